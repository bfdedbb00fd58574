def X { int a = !head([4,5,6]); list<int> b = !tail([4,5,6]); bit c = !empty([]<int>); bit d = !empty([1]); int e = !size([1,2]); list<int> f = !tail([1]); int g = !size("abc"); int h = !empty(""); }
def op; def Y { int a = !size((op 1, 2)); int b = !empty((op)); }

def D { int f = 7; string s = "q"; bits<4> b = 9; }
def X { int a = D.f; string s = D.s # "f"; bit b = D.b{3}; bits<2> c = D.b{1-0}; string t = D.s; }

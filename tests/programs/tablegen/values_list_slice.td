defvar l = [0,10,20,30,40,50,60,70];
def X { list<int> a = l[4-7,1,2-3]; list<int> b = l[3-1]; int c = l[2]; list<int> d = l[0...2]; list<int> e = l[1,1,1]; }

class C { field bits<4> a = {?,?,1,0}; field int n = ?; int m = 0; field string s; }
def X : C; def Y : C { field bits<2> w; }

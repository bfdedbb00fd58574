def D { int f = 7; string s = "q"; }
def X { string s = D.s # D.f; }

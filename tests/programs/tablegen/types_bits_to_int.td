class C { bits<4> v = 0b1010; int n = v; bit b = v{1}; bits<1> one = 1; bit fromone = one; int m = {1,0,1}; }
def X : C;

class C { bits<4> v = {1,?,0,0}; int n = v; }
def X : C;

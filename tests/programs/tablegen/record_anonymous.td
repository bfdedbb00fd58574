class A<int n> { int v = n; }
def : A<1>; def : A<2> { let v = 7; } def { int q = 3; }

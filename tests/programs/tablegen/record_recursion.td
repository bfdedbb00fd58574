class A<int n> { int v = !if(!eq(n, 0), 0, !add(n, A<!sub(n, 1)>.v)); }
def X { int v = A<4>.v; }

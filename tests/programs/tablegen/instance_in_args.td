class P<int n> { int v = n; } class U<P p = P<1>> { int v = p.v; }
def X : U; def Y : U<P<2>>;

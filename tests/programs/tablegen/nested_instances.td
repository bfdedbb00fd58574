class P<int n> { int v = n; } class Q<P p> { int w = !add(p.v, 1); P inner = p; } 
def X { Q q = Q<P<3>>; int z = Q<P<3>>.w; int y = Q<P<4>>.inner.v; }
class R<int k> { Q q = Q<P<k>>; } def Y : R<3>; def Z : R<9>;

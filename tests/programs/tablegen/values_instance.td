class P<int n> { int sq = !mul(n, n); }
def X { P p = P<4>; int s = P<5>.sq; int t = P<4>.sq; list<P> l = [P<1>, P<4>]; }

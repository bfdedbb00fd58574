class A<int x> { int v = x; }
def X { list<A> l = [A<1>, A<2>, A<1>]; int s = !foldl(0, l, a, e, !add(a, e.v)); int m = l[1].v; list<int> vs = !foreach(e, l, e.v); }

class E<string n, int v> { string name = n; int value = v; }
class T<list<E> es> { list<string> names = !foreach(e, es, e.name); int total = !foldl(0, es, s, e, !add(s, e.value)); list<E> big = !filter(e, es, !gt(e.value, 1)); }
def X : T<[E<"a", 1>, E<"b", 2>, E<"c", 3>]>;

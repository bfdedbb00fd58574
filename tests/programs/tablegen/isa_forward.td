class Base; class D1 : Base; class D2 : Base; def d1 : D1; def d2 : D2;
class K<list<Base> l> { list<Base> only = !filter(x, l, !isa<D1>(x)); list<int> flags = !foreach(x, l, !isa<D2>(x)); }
def X : K<[d1, d2]>;

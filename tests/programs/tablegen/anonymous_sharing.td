class P<int n, string s = "a"> { int v = n; string t = s; }
def X { list<P> l = [P<1>, P<1,"a">, P<1>]; }
class Q<int n> { P p = P<n>; } def Y : Q<1>; def Z : Q<2>; def : P<1>;

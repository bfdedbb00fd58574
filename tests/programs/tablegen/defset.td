class A { int v = 1; } class B : A;
defset list<A> all = { def x : A; foreach i = [1,2] in def y#i : B; multiclass M { def _m : A; } defm Q : M; }
def Z { list<A> l = all; int n = !size(all); }
foreach a = all in def "c_"#a { int w = a.v; }

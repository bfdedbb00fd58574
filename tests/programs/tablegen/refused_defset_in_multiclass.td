class A;
multiclass M { defset list<A> l = { def a : A; } }

class A; class B;
defset list<A> all = { def x : B; }

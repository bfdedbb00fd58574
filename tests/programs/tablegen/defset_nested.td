class A;
defset list<A> outer = { def a : A; defset list<A> inner = { def b : A; } def c : A; }
def X { list<A> o = outer; list<A> i = inner; }

class A;
defset list<A> none = { }
def X { int n = !size(none); list<A> l = none; }

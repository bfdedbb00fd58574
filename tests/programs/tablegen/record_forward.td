class A;
class U<A a> { A b = a; }
class A { int x = 1; }
def q : A; def X : U<q>;

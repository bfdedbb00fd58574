class A { int v = 3; } class B<A a> { A x = a; }
def X : A { A me = X; A me2 = !cast<A>("X"); }

class A; class B : A; class D : A; def b : B; def d : D;
def X { A x = !if(1, b, d); }

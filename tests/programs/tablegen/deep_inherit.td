class A { int a = 1; } class B : A { int b = a; } class C : B { let a = 2; int c = b; } class D : C { let b = 7; }
def X : A; def Y : B; def Z : C; def W : D { let a = 3; }

class A { int x = 1; int z = 9; } class B { int x = 2; int y = 3; }
def X : A, B; def Y : B, A; class C : A, B { let z = 4; } def Z : C;

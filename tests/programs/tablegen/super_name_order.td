class C; class B : C; class A : B; class Z; def X : Z, A;

class C { int a = 0; }
let a = 4 in class D : C;
def X : D; def Y : D { let a = 1; }

class C { int a = 0; int b = a; }
let a = 6 in def X : C { let b = 2; }
let a = 6, a = 7 in def Y : C;

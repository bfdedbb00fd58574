class C { int a = 0; }
let a = "s" in def X : C;

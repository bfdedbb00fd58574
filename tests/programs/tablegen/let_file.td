class C { int a = 0; int b = 0; bits<4> e = 0; }
let a = 1 in def X : C;
let a = 1, b = 2 in { def Y : C; let a = 5 in def Z : C { let b = 7; } }
let e<1> = 1 in def V : C;
let e<3-2> = 0b10 in def W : C;

class C { int a = 0; } multiclass M { def x : C; def y : C { let a = 3; } }
let a = 6 in defm Q : M;

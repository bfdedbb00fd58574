class A { int v = 1; } class B { int w = 2; }
multiclass M { def _a : A; } 
let v = 7 in defm X : M, B;

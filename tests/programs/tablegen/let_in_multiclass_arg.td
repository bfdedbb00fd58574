class A { int v = 0; string s = ""; }
multiclass M<int n> { let v = n, s = NAME in { def _a : A; def _b : A; } }
defm X : M<3>; defm Y : M<4>;

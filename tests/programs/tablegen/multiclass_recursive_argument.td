multiclass M<int n> { def _a { int v = n; } defm _b : M<!add(n, 1)>; defm _c : M<!mul(n, n)>; }
defm X : M<3>;

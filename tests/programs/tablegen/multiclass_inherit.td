class A<int n> { int v = n; }
multiclass M<int n> { def _m : A<n>; }
multiclass N<int n> : M<!add(n, 1)> { def _n : A<n>; }
multiclass O<int n> : N<n>;
defm X : N<1>; defm Y : O<5>;

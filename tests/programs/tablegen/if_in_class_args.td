class A<int n> { int v = n; }
multiclass M<int n> { if !lt(n, 5) then { def _small : A<n>; if !lt(n, 2) then def _tiny : A<n>; } else { foreach i = [1,2] in def _big#i : A<!add(n,i)>; } }
defm X : M<1>; defm Y : M<3>; defm Z : M<9>;

class A<int n> { int v = n; } multiclass M<int n> { def _x : A<n>; def _y : A<!add(n,10)>; }
foreach i = [1,2] in defm Q#i : M<i>;

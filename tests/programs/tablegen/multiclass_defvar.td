class A<int n> { int v = n; }
multiclass M<int n> { defvar m = !mul(n, 2); def _a : A<m>; foreach i = [0,1] in { defvar k = !add(m, i); def _b#i : A<k>; } defvar nm = NAME # "_z"; def nm : A<0>; }
defm X : M<3>;

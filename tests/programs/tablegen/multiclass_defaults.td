class A<int n, string s> { int v = n; string t = s; }
multiclass M<int n = 3, string s = "d"#n> { def _m : A<n, s>; }
defm X : M; defm Y : M<4>; defm Z : M<4, "z">;

class A<int n, string s> { int v = n; string t = s; } multiclass M<int n, string s> { def _x : A<n, s>; }
multiclass N<string s> { foreach i = [1,2] in { defm _q#i : M<i, s#i>; foreach j = ["a","b"] in def _z#i#j : A<i, j#NAME>; } }
defm K : N<"s">;

multiclass M<int n, string s, list<int> l> { def _a#s { int v = n; } foreach i = l in def _b#i; }
defm X : M<1, ?, [1]>;

multiclass M<int n, string s, list<int> l> { foreach i = l in def _b#i; }
defm X : M<1, "a", ?>;

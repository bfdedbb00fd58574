class A<int n> { int v = n; } class B<string s> { A a = !cast<A>(s); }
multiclass M { def _a : A<1>; def _b : B<NAME#"_a">; def _c : B<!strconcat(NAME, "_b") # "">; }

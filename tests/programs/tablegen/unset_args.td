class A<string s, int n = ?> { string t = s; int v = n; }
def Y : A<"q", 4>; def X : A<?, ?>;

class A<string s, int n = ?> { string t = s; int v = n; }
def X : A<"q">;

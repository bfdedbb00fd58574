class A<int a, int b = !add(a, 1), string s = "x"#b> { int p = a; int q = b; string r = s; }
def X : A<1>; def Y : A<1, 5>; def Z : A<1, 5, "z">;

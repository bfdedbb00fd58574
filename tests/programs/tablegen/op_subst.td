class A; def a : A; def b : A; def c : A;
def X { string s = !subst("a","bb","banana"); A r = !subst(a, b, a); A q = !subst(a, b, c); string t = !subst("x", "y", "abc"); string u = !subst("aa", "a", "aaaa"); }

class C<string s> { int n = !size(s); string a = !substr(s, 0, 2); int f = !find(s, "b"); bit e = !empty(s); string r = !subst("a", "Z", s); }
def X : C<"abab">;

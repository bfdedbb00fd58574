class C<code b> {string s = !interleave([b, b], b); string t = !subst(b, b, b); int f = !find(b, b); string q = !substr(b, 1); int n = !size(b); } def X : C<?>;

class C<list<string> b> {string s = !interleave(b, ","); list<string> c = b # b; list<string> d = !listconcat(b, b); list<list<string>> e = !listsplat(b, 2); } def X : C<?>;

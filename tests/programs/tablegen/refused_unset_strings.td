class C<string b> {string a = b # "x"; string c = !strconcat(b, "q"); } def X : C<?>;

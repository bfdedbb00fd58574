class C<list<int> b> {list<int> a = !foreach(i, b, i); } def X : C<?>;

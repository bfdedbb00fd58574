class C<list<int> b> {int a = !foldl(0, b, x, y, !add(x, y)); } def X : C<?>;

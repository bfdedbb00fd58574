class C<list<int> b> {int a = !head(b); list<int> t = !tail(b); list<int> u = b[1,0]; } def X : C<?>;

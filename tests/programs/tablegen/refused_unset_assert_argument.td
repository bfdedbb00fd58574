class C<int n> { assert n, "msg"; } def X : C<?>;

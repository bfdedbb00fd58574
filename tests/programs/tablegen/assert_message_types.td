class C<int n> { assert n, "msg " # n; int v = n; }
def X : C<1>;

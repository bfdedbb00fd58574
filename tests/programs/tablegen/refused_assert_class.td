class C<int n> { int v = n;
  assert !lt(n, 10), "too big: " # n; }
def X : C<13>;

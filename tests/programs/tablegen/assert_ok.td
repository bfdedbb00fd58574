class C<int n> { assert !lt(n, 10), "too big: " # n; int v = n; }
def X : C<3>;
assert !eq(1, 1), "no";
multiclass M<int n> { assert !gt(n, 0), "neg"; def a : C<n>; }
defm Q : M<2>;

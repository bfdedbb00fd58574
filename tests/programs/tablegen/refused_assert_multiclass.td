multiclass M<int n> {
  assert !gt(n, 0), "neg"; def a; }
defm Q : M<0>;

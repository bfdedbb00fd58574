class C<int n> { bits<4> a = !cond(!eq(n, 1): 0b0001, !eq(n, 2): 0b0010, true: 0b1111); }
def X : C<1>; def Y : C<5>;

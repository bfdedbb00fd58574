class P<int n> { int v = n; } class I<P p> { P q = p; int w = p.v; }
multiclass M<int n> { def a : I<P<n>>; def b : I<P<!add(n,1)>>; }
defm X : M<1>; defm Y : M<2>;

class P<int n> { int v = n; } class C<int b> {P p = P<b>; int q = P<b>.v; } def X : C<?>;

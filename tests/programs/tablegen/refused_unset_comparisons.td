class C<int b> {bit z = !eq(b, 1); bit y = !lt(b, b); int i = !isa<int>(b); int c = !cond(!eq(b,1): 1, true: 2); } def X : C<?>;

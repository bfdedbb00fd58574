class R{int v = 1;} class C<R r> {int a = r.v;} def X : C<?>;

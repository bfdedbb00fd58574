class C<dag b> {dag a = !con(b, (b)); int n = !size(b);} def X : C<?>;

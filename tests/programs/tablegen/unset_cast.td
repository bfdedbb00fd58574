class R; class C<string b> {R r = !cast<R>(b);} def X : C<?>;

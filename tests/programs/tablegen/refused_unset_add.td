class C<int b> {int a = !add(b, 1);} def X : C<?>;

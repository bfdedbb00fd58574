class C<bit b> {int a = !if(b, 1, 2);} def X : C<?>;

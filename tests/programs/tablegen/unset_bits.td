class C<bits<4> b> {bit a = b{0}; bits<2> c = b{1-0}; int d = b;} def X : C<?>;

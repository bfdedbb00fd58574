class C<bits<4> b, int i, bit t> { int x = b; bits<8> y = i; bit z = t; int w = t; bits<1> v = t; }
def X : C<7, 200, 1>; def Y : C<{1,0,0,1}, 3, 0>;

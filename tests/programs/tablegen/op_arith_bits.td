class C<bits<4> b> { int a = !add(b, 1); int c = !shl(b, 2); bits<4> d = !and(b, 3); bits<8> e = !or(b, 0xF0); bit f = !and(b{0}, 1); }
def X : C<9>;

class C<bits<4> b, bit t> { int x = !add(1, b, t); int y = !or(t, b, 8); int z = !and(b, 7, t); }
def X : C<9, 1>;

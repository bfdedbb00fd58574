class C<bits<4> a, bits<4> b> { bits<4> x = !xor(a, b); bits<4> o = !or(a, b); bits<4> n = !and(a, b); int s = !add(a, b); }
def X : C<12, 10>;

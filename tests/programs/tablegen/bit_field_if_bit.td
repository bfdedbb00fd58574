class C<bit b> { bit n = !not(b); int m = !add(b, 1); bits<2> k = {b, !if(b, 0, 1)}; }
def X : C<0>; def Y : C<1>;

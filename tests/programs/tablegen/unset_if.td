class C<bit b> { int v = !if(b, 3, ?); string s = !if(b, ?, "x"); }
def X : C<0>; def Y : C<1>;

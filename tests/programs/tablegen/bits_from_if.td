class C<bit f> { bits<4> a = !if(f, 3, 12); bits<4> b = !if(f, {1,1,1,1}, 0); int c = !if(f, 0b11, 0b01); }
def X : C<0>; def Y : C<1>;

class C<bits<8> v> { bits<4> hi = v{7-4}; int x = !shl(v{3-0}, 1); bits<8> sw = {v{3-0}, v{7-4}}; bits<8> rev = v{0-7}; }
def X : C<0xA5>;

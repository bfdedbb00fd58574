class C<bits<4> b> { bits<4> d = !add(b, 1); }
def X : C<15>;

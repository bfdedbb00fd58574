class K<bit a, bit b> { bits<4> x = {a, b, 0b10}; bits<3> y = {b, a, b}; }
def X : K<1,0>;
def Y : K<0,?>;

class C { bits<16> b = 0xBEEF; bits<4> x = b{15-12}; bits<4> y = b{3...0}; bits<2> z = b{0,15}; bits<4> w = b{15 - 12}; }
def X : C;

class I { bits<4> a; bits<4> b = {a{0}, a{1}, ?, 1}; bits<8> c; let c{3-0} = a; } def X : I;

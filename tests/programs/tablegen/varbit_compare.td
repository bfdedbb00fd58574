class I { bits<4> a = 3; bit z = !eq(a, 3); bit y = !eq(a{0}, 1); } def X : I;

def X { bits<4> a = 5; bits<4> b = {1,0,?,1}; bits<4> c = ?; bits<4> d; bits<4> e = -1; bits<4> f = -8; bits<7> g = 0b1001011; bits<0> h; bits<1> i = 1; bits<4> j = 15; }

def X { bits<70> a = 5; bits<70> b = -1; bits<64> c = -1; bits<65> d = 0xffffffffffffffff; }

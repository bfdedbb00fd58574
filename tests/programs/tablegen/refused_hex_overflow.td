def X { int a = 0x1ffffffffffffffff; }

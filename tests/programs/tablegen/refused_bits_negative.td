def X { bits<4> a = -9; }

def X { bits<8> a = 0b1001011; }

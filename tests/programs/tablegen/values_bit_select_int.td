def X { bits<4> a = 0xAB{7-4}; bit b = 5{0}; }

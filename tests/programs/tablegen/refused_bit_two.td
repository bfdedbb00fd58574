def X { bit a = 2; }

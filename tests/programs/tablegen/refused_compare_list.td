def X { bit q = !eq([1], [1]); }

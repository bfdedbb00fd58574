def a; def X { bit q = !lt(a, a); }

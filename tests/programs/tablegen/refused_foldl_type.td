def X { int s = !foldl(0, [1,2], a, b, "x"); }

def X { int let = 1; }

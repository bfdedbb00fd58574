def X { list a = 1; }

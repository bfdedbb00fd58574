def X { int a = !foreach(i, [1], i); }

class A { int i = 1; list<int> a = !foreach(i, [1], i); }

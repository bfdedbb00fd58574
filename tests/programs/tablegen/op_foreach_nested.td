def X { list<list<int>> a = !foreach(i, [1,2], !foreach(j, [10,20], !add(i, j))); }

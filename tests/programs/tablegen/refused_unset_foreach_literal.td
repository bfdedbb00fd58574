def X { list<int> a = !foreach(x, ?, 1); }

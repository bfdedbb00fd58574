def X { list<int> b = !listsplat("a", 2); }

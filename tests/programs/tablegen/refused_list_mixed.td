def X { list<int> a = [1,"a"]; }

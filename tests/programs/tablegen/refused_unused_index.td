def X { list<int> l = [1][1]; }

def X { list<int> l = [,]; }

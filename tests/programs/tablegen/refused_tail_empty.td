def X { list<int> a = !tail([]<int>); }

def op; def X { list<int> h = !filter(x, (op 1), 1); }

def X { list<int> b = !listconcat([1], ["a"]); }

def X { bits<2> a = {"a", 1}; }

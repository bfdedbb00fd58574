def X { bits<2> a = {2, 1}; }

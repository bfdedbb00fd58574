def X { bits<2> a = 5; }

def X { bits<n> a = 1; }

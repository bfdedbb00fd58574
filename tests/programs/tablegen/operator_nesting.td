def X { int a = !add(!mul(2, !sub(9, 4)), !if(!and(1, 1), !head([3]), 0)); string s = !strconcat(!interleave(!foreach(i, [1,2], "n" # i), "/"), !if(!empty("x"), "e", "f")); }

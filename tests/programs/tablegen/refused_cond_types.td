def X { string s = !cond(0 : "a", 1 : 3); }

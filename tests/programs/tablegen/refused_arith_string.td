def X { int a = !add("a", 1); }

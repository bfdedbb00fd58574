def X { string a = !add(1, 2); }

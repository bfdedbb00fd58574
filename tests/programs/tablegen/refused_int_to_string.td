def X { string a = 1; }

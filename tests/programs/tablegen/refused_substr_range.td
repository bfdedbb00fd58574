def X { string c = !substr("hello", 9); }

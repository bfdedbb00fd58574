def X { int a = !nope(1); }

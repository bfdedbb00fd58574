def X { int = 1; }

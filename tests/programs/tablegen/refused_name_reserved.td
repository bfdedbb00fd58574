def X { int NAME = 1; }

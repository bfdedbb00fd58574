class A { int Y = 1; let Y = Y; }

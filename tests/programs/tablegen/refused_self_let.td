class A { int Y = 1; }
def Z : A { let Y = !add(Y, 1); }

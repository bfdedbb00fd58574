class A<int x> { int Y = x; int Yplus1 = !add(Y, 1); int xplus1 = !add(x, 1); }
def Z : A<5> { let Y = 10; }

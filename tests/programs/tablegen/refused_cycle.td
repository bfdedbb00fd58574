class A { int X = 1; int Y = X; }
def Z : A { let X = Y; }

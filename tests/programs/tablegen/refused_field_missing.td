def D;
def X { int a = D.f; }

def X { int a = Y.v; }
def Y { int v = 1; }

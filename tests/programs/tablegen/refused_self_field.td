def X { int a = 1; int b = X.a; }

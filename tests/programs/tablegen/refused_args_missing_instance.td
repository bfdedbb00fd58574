class A<int a> { int b = a; }
def X { int c = A<>.b; }

class A<int x = 1> { int v = x; }
def X : A<>; def Y { int q = A<>.v; }
defvar t = A<3>;
def Z { int q = t.v; A a = t; }

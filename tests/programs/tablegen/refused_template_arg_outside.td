class A<int n>; def X { int v = n; }

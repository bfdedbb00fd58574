class A<int n, int n>;

class A<int a>;
def X : A<1, 2>;

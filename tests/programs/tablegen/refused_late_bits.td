class A<int n> { bits<2> v = n; }
def W : A<3>;
def X :
   A<4>;

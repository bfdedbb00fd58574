class A<int n> { bits<2> v = n; }
def X { 
  A a = A<3>;
  A b = A<4>; }

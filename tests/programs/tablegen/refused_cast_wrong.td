class A; class B; def b : B;
def X {
  int i = 0;
  A a = !cast<A>("b"); }

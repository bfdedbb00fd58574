class A<int n> {
  int a = n;
  int b = !add(a,
     "x");
}
def X : A<1>;

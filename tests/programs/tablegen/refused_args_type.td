class A<int a>;
def X :
  A<"x">;

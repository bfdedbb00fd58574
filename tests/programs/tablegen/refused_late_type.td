class A<string s> { 
  int v = !cast<int>(s);
}
def X :
   A<"x">;

class A<int n,
        string s>;
def X : A<1,
          2>;

class A<int n = ?>; def X : A; 

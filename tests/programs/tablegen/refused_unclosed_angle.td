class A<int n; 

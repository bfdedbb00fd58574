class A { int v = 0; }
let v = 1 def X : A;

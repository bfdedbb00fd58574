class A { int x = 1; } class B { string x = "a"; }
def X : A, B;

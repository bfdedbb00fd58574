class A; class B : A;
def X : B, A;

class A;
def X : A, A;

class C { int v = 5; bits<2> a = v{1-0}; }
def X : C;

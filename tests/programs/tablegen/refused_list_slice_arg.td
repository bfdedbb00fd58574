class C<list<int> l> { int a = l[4]; }
def X : C<[5,6]>;

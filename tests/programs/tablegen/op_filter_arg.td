class C<list<int> l, int k> { list<int> a = !filter(x, l, !lt(x, k)); int n = !size(a); }
def X : C<[1,5,9], 6>;

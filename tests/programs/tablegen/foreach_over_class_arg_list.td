class A<list<int> l> { list<int> v = l; int n = !size(l); }
multiclass M<list<list<int>> ls> { foreach l = ls in def _#!size(l) : A<l>; }
defm X : M<[[1],[1,2]]>;

class A<int n> { int v = n; }
multiclass M<int n, list<int> l> { foreach i = [0,1] in def _#i : A<!add(n, i)>; foreach j = l in def _l#j : A<j>; }
defm X : M<10, [7,8]>;

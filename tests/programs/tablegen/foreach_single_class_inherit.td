class A<int n> { int v = n; }
foreach i = 0-3 in def R#i : A<!mul(i,i)>;

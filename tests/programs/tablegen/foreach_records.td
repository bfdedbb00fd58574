class A<int n> { int v = n; } def a1 : A<1>; def a2 : A<2>;
foreach r = [a1, a2] in def "x_"#r { int w = r.v; A q = r; }

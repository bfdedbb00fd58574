defvar a = 5; defvar b = !add(a, 1); defvar l = ["x","y"]; defvar s = "q";
def X { int v = b; list<string> w = l; string t = "p"#s; defvar inner = !mul(b, 2); int u = inner; string z = s#"p"; string zz = !strconcat("p", s); }
foreach i = [1,2] in { defvar k = !add(i, a); def Y#i { int v = k; } def Z#k; }

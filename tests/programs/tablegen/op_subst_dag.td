class A; def a : A; def b : A; def op; def op2;
def X { dag d = !foreach(x, (op a, b, a), !subst(a, b, x)); dag e = !foreach(x, (op a:$n, (op b)), !subst(op, op2, x)); }

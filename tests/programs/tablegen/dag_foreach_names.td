def op; def a; def b;
class C<dag d> { dag e = !foreach(x, d, !subst(a, b, x)); dag f = !con(d, (op 9:$q)); int n = !size(d); }
def X : C<(op a:$x, b:$y, (op a))>;

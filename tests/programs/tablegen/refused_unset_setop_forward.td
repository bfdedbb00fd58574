class C<dag d> { dag e = !foreach(x, d, x); dag f = !setop(d, d2); dag g = !con(d, (d2)); } def d2; 
def X : C<(d2)>;

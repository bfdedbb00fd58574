def d2;  class A;
class C<dag d> { dag e = !foreach(x, d, x); dag f = !setop(d, d2); dag g = !con(d, (d2)); dag h = (!getop(d) 1); } 
def X : C<?>;

class Base { int v = 4; } def foo : Base; def bar;
def X { dag d = !dag(!getop((foo 1, 2)), [1], ["a"]); Base b = !getop<Base>((foo 1)); Base c = !cast<Base>(!getop((foo))); Base e = !getop((foo)); int v = !getdagop<Base>((foo)).v; dag f = (!getop((foo 1)) 7); dag g = (!cast<Base>("foo") 1); }

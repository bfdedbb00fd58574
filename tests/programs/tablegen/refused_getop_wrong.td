class Base; def bar;
def X { Base b = !getop<Base>((bar 1)); }

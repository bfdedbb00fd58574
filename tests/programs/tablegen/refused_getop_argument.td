class Base; def foo : Base;
class C<dag d> { Base b = !getop(d); }
def X : C<(foo 1)>;

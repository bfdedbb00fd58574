def op; def a;
class C<bit f> { dag d = !if(f, !dag(op, [a, a], ["n"]), (op)); }
def X : C<0>;

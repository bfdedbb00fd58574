def op; def i32; def i64;
class Pat<dag d> { dag p = d; }
multiclass M<dag d> { def _p : Pat<!con(d, (op i32:$z))>; def _q : Pat<!foreach(x, d, !subst(i32, i64, x))>; }
defm Q : M<(op i32:$a, (op i32:$b, i64))>;

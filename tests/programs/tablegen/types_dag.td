def op; def a; def v;
def X { dag d = (op 1, "s", a:$n, (op:$m), $v, ?:$u); dag e = (op); dag f = (?); dag g = (op 1, [1,2], {1,0}); dag h = (op:$x a:$y, (a:$q v:$r)); dag i = ?; }

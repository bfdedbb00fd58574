def op; def a;
def X { dag d = !dag(op,[a,a,?],["n1","n2","n3"]); dag e = !dag(op, [1,2], ?); dag f = !dag(op, ?, ["x","y"]); dag g = !dag(op, [a], [?]<string>); dag h = !dag(op, [a, op], ["q", ?]); }

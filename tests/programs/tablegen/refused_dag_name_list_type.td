def op; def a; def X { dag g = !dag(op, [a], [?]); }

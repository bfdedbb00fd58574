def op; def op2; def X { dag c = !con((op 1), (op2 2)); }

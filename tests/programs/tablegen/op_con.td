def op; def a; def b; def z;
def X { dag c = !con((op a:$x), (op b:$z)); dag d = !con((op a), (op), (op z:$q, 1)); dag e = !con((?), (op a)); }

def op; def a;
def X { dag d = !dag(op,[a,a],["n1"]); }

def op;
def X { dag d = !dag(op,?,?); }

def op;
def X { dag d = !dag(op,[1],[1]); }

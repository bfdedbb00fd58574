foreach i = [1] in { defvar k = i; }
def X { int v = k; }

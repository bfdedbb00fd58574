foreach i = [1] in def R#i;
def X { int y = i; }

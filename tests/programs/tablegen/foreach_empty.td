foreach i = []<int> in def R#i;
def X;

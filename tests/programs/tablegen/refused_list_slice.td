defvar l = [0,10];
def X { int c = l[2]; }

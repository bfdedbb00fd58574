class dump { int v = 1; } class deftype; def X : dump; def dumpx : deftype; class Z { dump d = X; }
def Y : Z;

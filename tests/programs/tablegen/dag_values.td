def ins; def r; def imm; def op;
def X { dag a = (ins r:$a,(ins r):$sub,4:$imm); dag b = (op (ins)); }

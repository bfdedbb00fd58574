class R; class S : R; def r0 : R;
def X { S a = r0; }

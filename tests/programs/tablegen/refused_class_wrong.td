class R; class S; def r0 : R;
def X { S a = r0; }

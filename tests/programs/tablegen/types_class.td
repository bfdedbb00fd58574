class R { int v = 3; } class S : R; def r0 : R; def s0 : S;
def X { R a = r0; R b = s0; S c = s0; R none = ?; list<R> l = [r0, s0]; }

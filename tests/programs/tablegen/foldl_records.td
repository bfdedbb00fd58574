class R { string n = "r"; } def r1 : R; def r2 : R { let n = "q"; }
def X { string s = !foldl("", [r1, r2], acc, r, acc # r.n); list<R> l = !foldl([]<R>, [r1, r2], acc, r, !listconcat([r], acc)); dag d = !foldl((r1), [r1, r2], acc, r, !con(acc, (r1 r))); }

class C<int x> { string s = !cond(!lt(x,0) : "negative", !eq(x,0) : "zero", 1 : "positive"); }
def X : C<-3>; def Y : C<0>; def Z : C<9>;

class C<int n> { string s = !if(!eq(n, 0), "zero", !if(!lt(n, 0), "neg", "pos")); int h = !if(!gt(n, 0), n, ?); list<int> l = !if(n, [1], []<int>); bits<4> b = !if(!eq(n,0), {1,0,0,0}, {0,0,0,1}); }
def X : C<0>; def Y : C<-1>; def Z : C<1>;

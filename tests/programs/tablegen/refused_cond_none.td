class C<int x> { string s = !cond(!lt(x,0) : "negative"); }
def X : C<3>;

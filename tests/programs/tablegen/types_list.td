class R; def r0 : R; def r1 : R;
def X { list<int> a = [1,2,3]; list<list<string>> b = [["a"],[]]; list<int> c = [1,2,]; list<R> d = [r0, r1]; list<bit> e = [0,1]; list<bits<2>> f = [1,2]; list<int> g = []; list<string> h; list<dag> i = [(r0), (r1 1)]; }

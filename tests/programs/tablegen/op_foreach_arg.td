class C<list<int> l, int k> { list<int> a = !foreach(i, l, !mul(i, k)); list<string> s = !foreach(i, l, !if(!lt(i, k), "lo", "hi")); }
def X : C<[1,2,3], 2>;

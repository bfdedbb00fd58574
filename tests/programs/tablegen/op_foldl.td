def X { int s = !foldl(0, [1,2,3,4], a, b, !add(a, b)); string t = !foldl("", ["x","y"], a, b, !strconcat(a, b, ",")); int e = !foldl(7, []<int>, a, b, !add(a, b)); }
class C<list<int> l> { int m = !foldl(!head(l), !tail(l), a, b, !if(!gt(a, b), a, b)); }
def Y : C<[3, 9, 2]>;

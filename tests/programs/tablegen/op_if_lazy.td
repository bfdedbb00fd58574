class C<list<int> l> { int h = !if(!empty(l), 0, !head(l)); }
def X : C<[]>; def Y : C<[5]>;

class C<list<int> l> { int a = l[1]; list<int> b = l[1,0]; int c = !add(l[0], l[1]); }
def X : C<[5,6]>;

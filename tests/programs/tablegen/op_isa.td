class A; class B : A; def a : A; def b : B;
class C<A x> { bit q = !isa<B>(x); int n = !isa<A>(x); string s = !if(!isa<B>(x), "b", "a"); }
def X : C<a>; def Y : C<b>;
def Z { int i = !isa<int>(5); int j = !isa<string>(5); int k = !isa<B>(a); int l = !isa<list<A>>([b]); int m = !isa<bit>(5); }

class A; class B : A; class C<A a> { int i = !isa<B>(a); string s = !cast<string>(a); B b = !cast<B>(a); bit e = !eq(a, a); } def X : C<?>;

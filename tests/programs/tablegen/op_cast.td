class A { int z = 5; } class B : A { int y = 6; } def r0 : B;
class C<A a> { int q = !cast<B>(a).y; string s = !cast<string>(a); }
def X : C<r0> { int a = !cast<int>(0b11); string b = !cast<string>(42); bits<4> c = !cast<bits<4>>(9); A d = !cast<A>("r0"); int e = !cast<B>("r"#0).y; bit f = !cast<bit>(1); string g = !cast<string>({1,0}); }

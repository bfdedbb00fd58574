class A { int z = 1; } def a;
class C<string s> { int q = !cast<A>(s).z; }
def X : C<"a">;

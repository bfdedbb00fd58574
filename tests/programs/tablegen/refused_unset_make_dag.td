def d2;  class A;
class C<A a, list<A> l, list<string> n> { dag h = !dag(a, l, n); } 
def X : C<?, ?, ?>;

class A<bits<3> v> { bits<4> w = v; }
def X : A<1>;

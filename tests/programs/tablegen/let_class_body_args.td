class A<int n> { int v = 0; let v = n; int w = v; }
def X : A<4>; def Y : A<5> { let v = 9; }
class B<int m> : A<!add(m, 1)> { let w = m; }
def Z : B<10>;

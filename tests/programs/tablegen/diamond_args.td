class Base<int n> { int v = n; }
class L<int n> : Base<n> { int l = v; } 
class R2<int n> { int r = n; }
class J<int n> : L<!add(n,1)>, R2<!add(n,2)>;
def X : J<10>;

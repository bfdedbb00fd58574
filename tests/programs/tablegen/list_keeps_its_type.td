class P<list<string> l> { list<string> m = l; }
defvar e = []<int>;
def X { P a = P<e>; P b = P<[]>; P c = P<e>; }

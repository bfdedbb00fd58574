defvar e = []<int>;
defvar f = [1,0]<bit>;
def X { int n = !size(e); list<int> l = e; list<bit> g = f; }

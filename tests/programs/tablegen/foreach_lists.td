foreach l = [[1,2],[3]] in def R#!size(l) { list<int> x = l; int h = !head(l); }

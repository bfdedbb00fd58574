def X { list<list<int>> a = [[1],[2,3],[]]; int b = !head(!head(a)); list<int> c = a[1]; int d = a[1][0]; }

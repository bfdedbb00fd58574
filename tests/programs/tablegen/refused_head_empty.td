def X { int a = !head([]<int>); }

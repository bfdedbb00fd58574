let a = ? in def X { int a = 1; }

def X { int a; let a{1-0} = 1; }

def 5 { int x = 1; }

def X { bits<4> a; let a{1,1} = 3; }

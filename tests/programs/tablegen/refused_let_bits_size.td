def X { bits<4> a; let a{1-0} = 7; }

def X { bits<4> a; let a{0} = ?; bits<4> b = {?, ?, a{1}, a{0}}; }

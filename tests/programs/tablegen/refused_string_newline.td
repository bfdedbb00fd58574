def X { string a = "ab
c"; }

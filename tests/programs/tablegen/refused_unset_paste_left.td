def X { string s = ? # "a"; }

class V { string v = "a"; bit b = v{0}; }

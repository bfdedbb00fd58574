class V { bits<4> v = 1; bit b = v{4}; }

class V { bits<20> v = 0b10001000000000000001; bit b = v{17}; bits<3> c = v{15-17}; bits<3> d = v{17-15}; bits<3> e = v{15...17}; bits<2> f = v{19,0}; bits<5> g = v{19-18,2...0}; }
def X : V;

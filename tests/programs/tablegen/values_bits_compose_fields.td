class K { bits<2> lo = 2; bits<3> hi = 5; bits<5> all = {hi, lo}; bits<3> mix = {hi{0}, lo}; bits<4> s = {lo{0}, lo{1}, hi{2-1}}; }
def X : K;

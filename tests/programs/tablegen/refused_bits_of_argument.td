class R { bits<3> num = 5; } def r : R;
class U<R a> { bits<6> n = { a.num, a.num }; bit b = a.num{0}; }
def X : U<r>;

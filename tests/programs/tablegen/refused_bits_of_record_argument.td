class R<string n> { string name = n; bits<3> num = 0; }
class Pair<R a, R b> { string both = a.name # "+" # b.name; bits<6> nums = { a.num, b.num }; list<R> l = [a, b]; }
def r1 : R<"one"> { let num = 1; } def r2 : R<"two"> { let num = 2; }
def P : Pair<r1, r2>;

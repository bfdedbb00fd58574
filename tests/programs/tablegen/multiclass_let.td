class A { int p = 0; int d = 0; }
multiclass M { let p = 2 in { def rr : A; def rm : A; } let p = 3 in def rx : A; }
multiclass S { let d = 0 in defm SS : M; let d = 1 in defm SD : M; }
defm ADD : S;
let p = 9 in defm SUB : S;

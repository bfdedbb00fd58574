class A { string n = NAME; }
multiclass M { def _x : A; }
multiclass N { defm : M; defm _k : M; }
defm P : N;
defm : N;

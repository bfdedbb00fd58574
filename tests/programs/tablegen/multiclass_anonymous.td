class A { string n = NAME; }
multiclass M { def : A; def _x : A; }
defm Q : M;
defm R : M;
defm : M;

multiclass M { def a; }
defm X : M;
defm X : M;

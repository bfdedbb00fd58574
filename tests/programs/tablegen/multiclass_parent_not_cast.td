multiclass M<bit b> { def _m; }
multiclass N : M<0b1010> { def _n; }
defm X : N;

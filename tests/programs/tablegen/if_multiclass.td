multiclass M<bit f> { if f then { def _t; } else def _f; if !not(f) then def _n; }
defm X : M<1>; defm Y : M<0>;

multiclass M { def a; def NAME#b; def _#NAME#_; }
foreach i = [1,2] in { defm P#i#_ : M; }

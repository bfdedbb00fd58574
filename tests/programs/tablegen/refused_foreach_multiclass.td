foreach i = [1] in { multiclass Q { def a; } }

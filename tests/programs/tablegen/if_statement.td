foreach i = [1,2,3] in { if !eq(i, 2) then def two; else def not_two#i; }
if 1 then { def yes; } else { def no; }
if 0 then def a; else if 1 then def b; else def c;

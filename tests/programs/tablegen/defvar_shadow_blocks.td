if 1 then { defvar a = 1; if 1 then { defvar a = 2; def X { int v = a; defvar a = 3; int w = a; } } def Y { int v = a; } }

foreach i = ? in def R#i;

foreach i = "abc" in def R#i;

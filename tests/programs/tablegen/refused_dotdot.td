foreach i = 0..2 in def X#i;

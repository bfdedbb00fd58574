foreach i = 0-1 in def R8i#i; def "8i" { int x = 1; } def x#8i;

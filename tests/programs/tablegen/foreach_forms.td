foreach i = [1,2] in def R#i;
foreach i = 0-2 in def S#i;
foreach i = {0-1,4-5,9} in def T#i;
foreach i = {3} in def U#i;
foreach i = 2-0 in def V#i;
foreach i = 0...2 in def W#i;
foreach i = 4 in def Y#i;
foreach i = 5 - 6 in def Z#i;

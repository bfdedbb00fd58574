class C { int a = 0; }
let a = 6 in foreach i = [1,2] in def X#i : C;

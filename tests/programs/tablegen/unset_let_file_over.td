class C { int a = 4; } let a = ? in def X : C;

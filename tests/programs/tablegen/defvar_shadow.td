defvar a = 5;
class C { int x = a; defvar a = 7; int y = a; }
foreach i = [1] in { defvar a = 9; def X#i { int v = a; } }
def Y : C;

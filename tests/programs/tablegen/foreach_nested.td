foreach i = [1,2] in { foreach j = ["a","b"] in { def R#i#j { int x = i; string y = j; } } def Q#i { int z = !add(i, 1); } }

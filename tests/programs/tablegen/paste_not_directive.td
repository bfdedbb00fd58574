foreach i = [1] in { def a#i; def b
#i; }

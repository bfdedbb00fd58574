model_input x;
a = x @ 2;
b = x ^ 2;
c = x % 2 # remainder
;
d = !x;
e = "x";
f = $n;

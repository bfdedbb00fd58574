m = 10
model_input x[m];
a = x[0]   // the comment does not count
b = x[1]
c = x[2];

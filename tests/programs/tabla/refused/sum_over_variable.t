m = 3; model_input x[m];
a = sum[m](x[0]);
b = sum[x](x[0]);
c = sum[2](x[0]);
d = sum[k](x[0]);

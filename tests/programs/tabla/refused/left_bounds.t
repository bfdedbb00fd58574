m = 4;
model_input x[m];
model_output y;
model w[m];
gradient g[m] -> w[m];
iterator i[0:m];
h = sum[i](w[i] * x[i]);
iterator k[0:5];
g[k] = h;

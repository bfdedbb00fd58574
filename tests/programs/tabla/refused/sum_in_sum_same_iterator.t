m = 4;
model_input x[m];
model_output y;
model w[m];
gradient g[m] -> w[m];
iterator i[0:m];
h = sum[i](w[i] * x[i]);
g[i] = h; s = sum[i](x[i] * sum[i](w[i]));

// mu joins the error, a scalar, not the inputs
mu = 0.1; m = 10;
model_input x[m]; model_output y; model w[m];
gradient g[m] -> w[m];
iterator i[0:m];
h = sum[i](w[i] * x[i]);
e = h - y;
g[i] = e * x[i];

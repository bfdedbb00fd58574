// a power of two needs no multiply
mu = 0.5; m = 10;
model_input x[m]; model_output y; model w[m], b;
gradient g -> w, f -> b;
iterator i[0:m];
h = sigmoid(sum[i](w[i] * x[i]) + b);
g[i] = (h - y) * x[i];
f = h - y;

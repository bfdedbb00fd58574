// Linear regression with several outputs.

m = 3; outputs = 3;
mu = 0.015625;                    // learning rate, 1/64

model_input  x[m];
model_output y[outputs];
model        w[outputs][m], b[outputs];
gradient     gw[outputs][m] -> w, gb[outputs] -> b;
iterator     i[0:m];
iterator     k[0:outputs];

h[k] = sum[i](w[k][i] * x[i]) + b[k];
e[k] = h[k] - y[k];
gw[k][i] = e[k] * x[i];
gb[k] = e[k];

// Logistic regression with several classes: one sigmoid for each.

m = 13; classes = 3;
mu = 0.03125;                     // learning rate, 1/32

model_input  x[m];
model_output y[classes];
model        w[classes][m], b[classes];
gradient     gw[classes][m] -> w, gb[classes] -> b;
iterator     i[0:m];
iterator     k[0:classes];

h[k] = sigmoid(sum[i](w[k][i] * x[i]) + b[k]);
e[k] = h[k] - y[k];
gw[k][i] = e[k] * x[i];
gb[k] = e[k];

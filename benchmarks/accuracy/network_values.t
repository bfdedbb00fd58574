// Neural network with one hidden layer and linear outputs: regression.

m = 10; hidden = 16; outputs = 1;
mu = 0.03125;                     // learning rate, 1/32

model_input  x[m];
model_output y[outputs];
model        w1[hidden][m], b1[hidden], w2[outputs][hidden], b2[outputs];
gradient     g1[hidden][m] -> w1, gb1[hidden] -> b1, g2[outputs][hidden] -> w2, gb2[outputs] -> b2;
iterator     i[0:m];
iterator     j[0:hidden];
iterator     k[0:outputs];

a[j] = tanh(sum[i](w1[j][i] * x[i]) + b1[j]);
h[k] = sum[j](w2[k][j] * a[j]) + b2[k];
e[k] = h[k] - y[k];
d[j] = sum[k](w2[k][j] * e[k]) * (1 - a[j] * a[j]);
g2[k][j] = e[k] * a[j];
gb2[k] = e[k];
g1[j][i] = d[j] * x[i];
gb1[j] = d[j];

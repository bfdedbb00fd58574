// Neural network with one hidden layer: which of three growers made a wine?
//
// Data:   wine.npz, 178 real wines, 13 standardised measurements each
// Format: q6.10 (16 bits)
// Run:    tabla train backprop.t --data wine.npz --epochs 10 --split 0.2

m = 13; hidden = 8; classes = 3;
mu = 0.0625;                      // learning rate, 1/16

model_input  x[m];
model_output y[classes];
model        w1[hidden][m], b1[hidden], w2[classes][hidden], b2[classes];
gradient     g1[hidden][m] -> w1, gb1[hidden] -> b1, g2[classes][hidden] -> w2, gb2[classes] -> b2;
iterator     i[0:m];
iterator     j[0:hidden];
iterator     k[0:classes];

a[j] = sigmoid(sum[i](w1[j][i] * x[i]) + b1[j]);
h[k] = sigmoid(sum[j](w2[k][j] * a[j]) + b2[k]);
e[k] = h[k] - y[k];                           // the derivative of the cross entropy by the sigmoid's argument
d[j] = sum[k](w2[k][j] * e[k]) * (a[j] * (1 - a[j]));
g2[k][j] = e[k] * a[j];
gb2[k] = e[k];
g1[j][i] = d[j] * x[i];
gb1[j] = d[j];

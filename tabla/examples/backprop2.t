// Neural network with two hidden layers: which digit was written?
//
// Data:   digits.npz, 1797 real digits of 8 by 8 pixels between 0 and 1
// Format: q5.13 (18 bits, as wide as the multipliers and block RAMs of an ECP5)
// Run:    tabla train backprop2.t --data digits.npz --epochs 5 --format q5.13 --split 0.2

m = 64; n1 = 16; n2 = 16; classes = 10;
mu = 0.015625;                    // learning rate, 1/64

model_input  x[m];
model_output y[classes];
model        w1[n1][m], w2[n2][n1], w3[classes][n2], b3[classes];
gradient     g1[n1][m] -> w1, g2[n2][n1] -> w2, g3[classes][n2] -> w3, gb[classes] -> b3;
iterator     i[0:m];
iterator     j[0:n1];
iterator     k[0:n2];
iterator     c[0:classes];

a1[j] = tanh(sum[i](w1[j][i] * x[i]));
a2[k] = tanh(sum[j](w2[k][j] * a1[j]));
h[c] = sigmoid(sum[k](w3[c][k] * a2[k]) + b3[c]);
e[c] = h[c] - y[c];                           // the derivative of the cross entropy by the sigmoid's argument
d2[k] = sum[c](w3[c][k] * e[c]) * (1 - a2[k] * a2[k]);
d1[j] = sum[k](w2[k][j] * d2[k]) * (1 - a1[j] * a1[j]);
g3[c][k] = e[c] * a2[k];
gb[c] = e[c];
g2[k][j] = d2[k] * a1[j];
g1[j][i] = d1[j] * x[i];

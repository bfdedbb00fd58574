// A network with one hidden layer, sigmoids in both layers, squared error.
// Sizes: -D features=N -D hidden=N -D classes=N

features = 8; hidden = 16; classes = 3;
mu = 0.125;

model_input  x[features];
model_output y[classes];
model        w1[hidden][features], w2[classes][hidden];
gradient     g1[hidden][features] -> w1, g2[classes][hidden] -> w2;
iterator     i[0:features];
iterator     j[0:hidden];
iterator     k[0:classes];

h[j] = sigmoid(sum[i](w1[j][i] * x[i]));
o[k] = sigmoid(sum[j](w2[k][j] * h[j]));
d[k] = (o[k] - y[k]) * o[k] * (1 - o[k]);
b[j] = sum[k](w2[k][j] * d[k]) * h[j] * (1 - h[j]);
g2[k][j] = d[k] * h[j];
g1[j][i] = b[j] * x[i];

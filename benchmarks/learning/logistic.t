// Logistic regression, one neuron.
// Sizes: -D features=N

features = 54;
mu = 0.1;

model_input  x[features];
model_output y;
model        w[features];
gradient     g[features] -> w;
iterator     i[0:features];

h = sum[i](w[i] * x[i]);
e = sigmoid(h) - y;
g[i] = e * x[i];

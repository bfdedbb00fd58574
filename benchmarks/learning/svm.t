// A support vector machine: a weight gets a step only if the sample misses the margin.
// Sizes: -D features=N

features = 54;
mu = 0.1;

model_input  x[features];
model_output y;
model        w[features];
gradient     g[features] -> w;
iterator     i[0:features];

h = sum[i](w[i] * x[i]);
e = (y*h < 1) * (0 - y);
g[i] = e * x[i];

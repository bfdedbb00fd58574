// mu times a gradient that is no product
mu = 3; model_input x[2]; model w[2], v, u; gradient g -> w, f -> v, e -> u;
iterator i[0:2];
g[i] = w[i] * x[i] + 1;
f = x[0];
e = 0.5;

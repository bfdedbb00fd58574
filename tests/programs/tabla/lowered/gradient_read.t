mu = 0.5; model_input x[3], y; model w[3], v; gradient g -> w, f -> v; iterator i[0:3];
g[i] = y * x[i];
f = sum[i](g[i]);

mu = 1; model_input x[4]; model w[4]; gradient g -> w; iterator i[0:4]; iterator j[1:3];
g[i] = x[i] * w[3 - i];
g[j] = x[j] * w[0];
s = g[3] * 2;

// each part alone; w[3] stays as it is
mu = 0.75; model_input x[4]; model w[4]; gradient g -> w; iterator i[0:2];
g[1 - i] = -(x[i] * w[i]);
g[2] = x[2] * w[3] * 2;

model_input x[3]; model_output y; model w[3]; gradient g -> w; iterator i[0:3];
x[i] = 1;
y = 2;
w[i] = w[i] - x[i];
g[i] = x[i];

model w-rate[3];
learn-rate = 3;
model_input x[3]; model_output y; model w[3]; gradient g[3] -> w; iterator i[0:3];
h = sum[i](w[i] * x[i]);
g[i] = (h - y) * x[i];

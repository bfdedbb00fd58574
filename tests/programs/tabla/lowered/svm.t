mu = 0.01; lambda = 0.125; m = 8;
model_input x[m]; model_output y; model w[m];
gradient g -> w;
iterator i[0:m];
margin = y * sum[i](w[i] * x[i]);
hinge = (margin < 1) * y;
g[i] = lambda * w[i] - hinge * x[i];

model_input x[4];
a = sum[0:4](x[i]);

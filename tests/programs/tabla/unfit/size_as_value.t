m = 784; model_input x[m]; iterator i[0:m];
mean = sum[i](x[i]) - m;

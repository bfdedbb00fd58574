m = 10;
model_input x[m];
iterator i[0:m+1];
a = sum[i](x[i]);

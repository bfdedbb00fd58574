iterator i;
iterator j[5];
model_input x[5];
a = sum[i](x[i]);

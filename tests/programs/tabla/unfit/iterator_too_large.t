model_input x[100]; iterator i[0:100];
s = sum[i](i + x[i]);
t = sum[i](i - 50);

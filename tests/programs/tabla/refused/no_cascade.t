model_input x[n];
iterator i[0:n];
a = sum[i](x[i]);
b = a * c +;
d = b * c;

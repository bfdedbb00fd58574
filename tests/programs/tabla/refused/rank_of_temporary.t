model_input x[3]; iterator i[0:3];
a[i] = x[i];
b = a;
a = 1;

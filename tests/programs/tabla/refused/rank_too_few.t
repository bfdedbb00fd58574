model_input x[3][4]; iterator i[0:3];
a[i] = x[i];

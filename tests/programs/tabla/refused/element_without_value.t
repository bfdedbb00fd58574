model_input x[5]; iterator i[0:5]; iterator j[1:5];
a[j] = x[j];
b[i] = a[i] * 2;

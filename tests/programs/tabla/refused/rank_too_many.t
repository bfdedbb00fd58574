model_input x; iterator i[0:3];
a[i] = x[i];

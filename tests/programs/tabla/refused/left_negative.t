iterator i[0:4]; model_input x[4];
a[i - 1] = x[i];

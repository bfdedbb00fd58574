iterator i[0:2]; model_input x[4]; n = 3;
a[i] = x[i*i];
b = x[n/2];
c = x[a[0]];

iterator i[0:4]; iterator j[0:4]; model_input x[4];
a[2*i] = x[i];
b[i+j] = 1;
c[x[0]] = 1;

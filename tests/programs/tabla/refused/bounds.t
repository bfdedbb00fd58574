model_input x[3][4]; iterator i[0:4]; iterator j[0:3];
a[i][j] = x[i][j];
b = x[3][0];
c = x[0][-1];
d[j] = x[2 - j][2*j];

iterator i[0:3];
a[i][i] = 1;

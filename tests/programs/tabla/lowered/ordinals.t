model_input x[4]; n = 3; iterator i[1:4]; iterator j[0:2];
a[i] = i * x[i] + (2 * i - n) + 0.5 * i * 2;
b[i][j] = (i + j) * (i - j) + x[i] - i;
c = sum[j](j * j + j * 0.25 + 1);
d[j] = (j < 1) * exp(j);


iterator i[0:3];
a = sum[i](2, 3);
b = pi[i]();

iterator i[0:3];
a[0] = 1;
a[2] = 3;
s = sum[i](a[i]);

// fresh elements go into one tensor until it is read
model_input x[5]; iterator i[1:5]; iterator j[0:5]; iterator k[0:2];
a[0] = 1;
a[i] = sigmoid(x[i]);
b = sum[j](a[j]);
a[k] = a[k + 1] * b;
c[j] = a[j] * 2;
d[1] = b;
e = d[1] * d[1];
d[0] = e;
f = d[0] - d[1];

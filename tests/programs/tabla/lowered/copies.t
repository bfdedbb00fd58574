// plain copies make no statement, unless they are returned
model_input x[4], y; iterator i[0:4]; iterator j[1:3];
a[i] = x[3 - i];
b[j] = a[j + 1];
c = b[2] * b[1] + y;
copy = y;
d[i] = a[3 - i];

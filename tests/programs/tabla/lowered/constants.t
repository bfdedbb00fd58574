// a constant is exact until it is used
third = 1 / 3; m = 3000; n = m / 1000;
model_input x[n]; iterator i[0:n];
a[i] = third * 3 * x[i] + third * x[i] + third;
b = 7;
c[1] = 0.1;

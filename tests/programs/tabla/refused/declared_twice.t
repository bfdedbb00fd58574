model_input x;
model x[3];
a = x;
iterator a[0:3];

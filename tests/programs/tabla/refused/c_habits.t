float x;
model_input x[3]; iterator i[0:3];
for (i = 0; i < 3) { a = 1; }
b = (x[0] < 3) ? 1 : 0;
c = x[1] ** 2;
d = x[2] > = 3;
e = x[0] => 3;
f = x[0] < 1 && x[1] < 2;
a + 1;
a;
3 = a;

model_input x[2]; iterator i[0:2];
s = 0;
s = s + x[0];
s = s * s;
v[i] = x[i] + s;
v[i] = v[i] * v[1 - i];

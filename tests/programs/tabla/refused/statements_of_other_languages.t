model_input x[3]; model_output y; model w[3]; gradient g[3] -> w; iterator i[0:3];
h = sum[i](w[i] * x[i]);
for (i = 0; i < 3; i++) {
  g[i] = (h - y) * x[i];
}
for i in 0:3 { g[i] = 0; }
while (h < 3) { h = h + 1; }
if (h < (3)) { g[i] = 3; }

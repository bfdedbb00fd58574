model w[3];
gradient g -> w, f -> w;
iterator i[0:3];
g[i] = 1; f[i] = 2;

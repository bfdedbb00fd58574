model w[3], v; gradient g -> w, f -> v;
iterator i[0:3];
g[i] = 1;

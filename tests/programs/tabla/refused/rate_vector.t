model w; gradient g -> w; iterator i[0:3];
mu[i] = 0.1;
g = 1;

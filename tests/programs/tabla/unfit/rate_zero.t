mu = 0; model w; gradient g -> w;
g = w;

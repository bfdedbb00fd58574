mu = 1e-9; model w; gradient g -> w;
g = w * w;

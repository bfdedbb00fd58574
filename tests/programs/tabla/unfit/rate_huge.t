mu = 1e9; model w; gradient g -> w;
g = w * w;

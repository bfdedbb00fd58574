model_input x; model w; gradient g -> w;
mu = x * 0.1;
g = x;

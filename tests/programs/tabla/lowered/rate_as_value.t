mu = 0.1; model_input x; model w; gradient g -> w;
g = mu * x * w;

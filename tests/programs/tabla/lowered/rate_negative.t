mu = -0.3; model_input x; model w; gradient g -> w;
g = w * x;

model_input mu; model w; gradient g -> w;
g = mu;

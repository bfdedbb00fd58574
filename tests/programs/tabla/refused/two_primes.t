model_input x;
y'' = x;

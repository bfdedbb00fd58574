model_input x;
a = 2x + 1e;

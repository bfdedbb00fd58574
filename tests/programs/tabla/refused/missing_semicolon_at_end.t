model_input x;
a = x + 1

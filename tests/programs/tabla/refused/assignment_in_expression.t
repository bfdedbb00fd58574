model_input x;
a = x = 3;

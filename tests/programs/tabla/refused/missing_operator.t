model_input x;
a = 2 x;

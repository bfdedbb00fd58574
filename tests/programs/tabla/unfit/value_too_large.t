model_input x;
a = x + 40;
b = x * 1e6 + 1e6;

model_input x;
a = (x + 1;
b = 3 * ((x);

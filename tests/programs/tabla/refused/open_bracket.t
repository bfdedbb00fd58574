model_input x[3];
a = x[1;
b = x 1];

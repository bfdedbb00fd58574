model_input x;
a = x − 1;
b = x × 2;

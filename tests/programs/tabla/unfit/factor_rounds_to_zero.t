lambda = 0.0001; model_input x;
a = lambda * x;
b = x / 0.0001;

lambda = 0.000001; model_input x;
a = lambda * x;
b = x / 0.000001;
c = x / 1e8;

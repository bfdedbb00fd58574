model_input x[3];
a = x[3] + b * unknown(c) + sum(x[0]);

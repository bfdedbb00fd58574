model_input x; n = x * 2; model_input y[n];

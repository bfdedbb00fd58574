model_output y[n];

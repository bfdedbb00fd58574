model_input x[2][2];
a = x[0,1];

n = 3; model_input x[n/2], y[2.5], z[0], u[n-5];

model_input x[3];
model w[3];

iterator i[0:3];
model_input x[i];

größe = 3;
model_input x[größe];
a = x[0];

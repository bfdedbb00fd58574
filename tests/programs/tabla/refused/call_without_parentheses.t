model_input x[3]; iterator i[0:3];
a = sum[i] x[i];
b = sigmoid x[0];
c = 3 x[0];

model_input x[3], y; iterator i[0:3];
a = exp(-y) + tanh(y) * sig_sym(y) - gaussian(y + 1);
b = log(x[0]) / sqrt(x[1]);
c = min(x[0], y) - max(x[1] * y, 2) + abs(y - 1);
d = norm[i](x[i]) + norm[i](-x[i] * y);
e = pi[i](x[i] - y) * pi[i](2);
f = (x[0] < y) + (y >= 0.5) * x[1] - (x[0] == x[1]);
g = sigmoid(sigmoid(0) + y);

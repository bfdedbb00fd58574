model_input x;
a = sigmoid(x, 1);
b = min(x);
c = log();

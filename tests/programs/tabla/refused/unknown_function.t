model_input x;
a = sigmod(x);
b = relu(x);
c = x(2);

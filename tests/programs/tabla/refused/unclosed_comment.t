model_input x;
a = x; /* and so on
b = x;

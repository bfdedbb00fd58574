model_input x; y = x; c = x;
y = x / (0 * c);


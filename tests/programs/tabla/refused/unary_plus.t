model_input x;
a = +x;

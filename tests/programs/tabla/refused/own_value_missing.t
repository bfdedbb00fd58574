model_input x;
a = a + x;

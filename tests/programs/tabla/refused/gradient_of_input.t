model_input x[3];
gradient g[3] -> x;

a = 1e300; a = a * a; a = a * a; a = a * a; a = a * a; a = a * a; model_input x[a];

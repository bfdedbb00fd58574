model_input x[5]; iterator j[1:5];
a[0] = 0;
a[j] = a[j-1] + x[j];

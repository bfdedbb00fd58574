model_input x[3]; iterator i[0:3];
a = exp[i](x[i]);

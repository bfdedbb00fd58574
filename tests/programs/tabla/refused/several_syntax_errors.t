m = = 3;
model_input x[4], ;
a = x[0] +;
b = (x[1]];
c = x[2];

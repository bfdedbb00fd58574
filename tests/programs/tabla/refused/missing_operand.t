model_input x;
a = x + ;
b = * x;
c = x * / x;

model = 3;
a = gradient + 1;

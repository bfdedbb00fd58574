model w[3]; gradient g -> w;
g = 1;

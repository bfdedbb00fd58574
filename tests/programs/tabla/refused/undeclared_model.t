gradient g[3] -> w[3];

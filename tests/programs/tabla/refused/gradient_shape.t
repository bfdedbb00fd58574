model w[3][4];
gradient g[4][3] -> w;

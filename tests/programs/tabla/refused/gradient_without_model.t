model w[3];
gradient g[3];

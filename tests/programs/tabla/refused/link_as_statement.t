model w[3];
gradient g[3] -> w;
g -> w;
gradient f = w;
gradient h w;

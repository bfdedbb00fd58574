defset int all = { def x; }

def op; def X { dag g = (op {1,0}); }

def X { string j = !interleave([{1,0},{0,1}], ","); }

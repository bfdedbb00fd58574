def X { int a = !shl(1, 64); int b = !shl(1, 65); int c = !srl(-1, 127); int d = !sra(-8, 65); int e = !shl(1, -1); }

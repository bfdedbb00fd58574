def X { int a = !shl(1, 62); int b = !sub(0, 9223372036854775807); int c = !srl(!shl(1, 63), 63); int d = !sra(!shl(1, 63), 63); int e = !mul(4294967296, 4294967296); }

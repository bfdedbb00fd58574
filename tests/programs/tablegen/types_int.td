def X { int a = 5; int b = -5; int c = +7; int d = 0x7F; int e = 0b101; int f = 0xffffffffffffffff; int g; int h = 9223372036854775807; int i = -9223372036854775808; int j = 00012; }

def X { int a = !add(?, 1); }

def X { int a = !if(?, 1, 2); }

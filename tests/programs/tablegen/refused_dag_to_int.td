def op; def X { int a = (op); }

def X { int a = !size(5); }

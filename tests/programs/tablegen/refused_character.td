def X { int a = @; }

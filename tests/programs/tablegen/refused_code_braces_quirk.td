def X { code c = [{x}}]; }

model_input 3x, y z;
4y = 3;

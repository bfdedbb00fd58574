def X;
int y = 3;

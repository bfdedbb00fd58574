if 1 def X;

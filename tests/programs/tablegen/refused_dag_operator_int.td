def X { dag d = (1 2); }

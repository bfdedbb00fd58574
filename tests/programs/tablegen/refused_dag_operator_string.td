def X { dag d = ("a" 2); }

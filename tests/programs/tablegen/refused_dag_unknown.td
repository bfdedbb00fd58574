def X { dag d = (nope 2); }

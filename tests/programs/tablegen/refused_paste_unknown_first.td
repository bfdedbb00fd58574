def X { string g = "a"; string h = nope; }

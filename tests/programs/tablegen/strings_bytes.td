def X { string s = "héllo ✓"; string t = "tab\there"; code c = [{ü}]; }

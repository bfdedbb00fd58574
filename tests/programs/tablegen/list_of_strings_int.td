def X { list<string> a = !foreach(i, [1,2,3], !cast<string>(i)); list<string> b = !foreach(i, ["a","b"], i # "_" # i); }

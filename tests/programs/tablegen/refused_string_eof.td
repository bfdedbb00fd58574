def X { string a = "abc

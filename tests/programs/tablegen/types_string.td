def X { string a = "a\tb\n\"q\" \\ \'"; string b = "foo" "bar" "baz"; string c; string d = ""; }

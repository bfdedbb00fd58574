def D;
def X { string a = !strconcat("a", "b", "c"); string b = "v"#4#"q"; string c = "<"#D#">"; string d = "s"#; string e = 1#2; string g = "a"#unknown; }

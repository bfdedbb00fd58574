def "hello world" { int x = 1; }
defvar n = "dyn"; def n#"x"; def !strconcat(n, "y"); def !cast<string>(3)#z;

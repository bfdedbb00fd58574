def "a\"b" { string s = "x"; } 

multiclass M { def _x; def x_#NAME; def NAME#_y; def NAME; def "lit"#NAME { string s = NAME; } }
defm Q : M;
defm "R"#1 : M;

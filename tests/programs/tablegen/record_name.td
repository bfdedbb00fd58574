class A { string n = NAME; string m = NAME#"_x"; }
def X : A; def Y { string q = "a"; } class B<string s> { string t = s; }
def Z : B<"NAME">; class C : B<NAME> { string w = NAME; } def V : C;

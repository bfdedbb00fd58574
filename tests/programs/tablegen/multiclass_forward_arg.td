class A<string n> { string s = n; }
multiclass Inner<string n> { def _i : A<n # NAME>; }
multiclass Outer<string n> { defm _o : Inner<n # "!" # NAME>; defm "" : Inner<NAME>; }
defm Z : Outer<"q">;

class A; class U<A x> { A y = x; }
multiclass M<string n> { def _a : A; def _u : U<!cast<A>(NAME#"_a")>; def _v : U<!cast<A>(n)>; }
def given : A;
defm P : M<"given">;
defm Q : M<"P_a">;

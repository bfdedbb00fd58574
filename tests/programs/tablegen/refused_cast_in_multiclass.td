class A; class U<A x> { A y = x; }
multiclass M<string n> { def _v : U<!cast<A>(n)>; }
defm Q : M<"absent">;

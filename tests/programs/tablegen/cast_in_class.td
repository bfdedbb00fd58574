class A; 
class L<string n> { A a = !cast<A>(n); A b = !cast<A>(n#"x"); }
def q : A; def qx : A;
def X : L<"q">;

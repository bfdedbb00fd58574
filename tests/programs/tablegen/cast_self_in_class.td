class A<string s> { A me = !cast<A>(s); int k = 4; }
def X : A<"X">;

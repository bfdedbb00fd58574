class A;
def X { A a = !cast<A>("nope"); }

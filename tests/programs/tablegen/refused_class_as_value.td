class A; def X { A a = A; }

class R; def r : R; def X { list<int> a = [1, ?, 2]; list<R> b = [r, ?]; list<string> c = [?, "x"]; }

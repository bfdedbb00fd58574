def a; def b;
def X { bit q = !eq(1, 1); bit r = !eq("a", "b"); bit s = !ne(1, 2); bit t = !lt(-1, 1); bit u = !le(2, 2); bit v = !gt("b", "a"); bit w = !ge(1, 2); bit x = !eq(a, b); bit y = !ne(a, b); bit z = !eq(a, a); bit aa = !eq({1,0}, 2); int bb = !eq(true, 1); }

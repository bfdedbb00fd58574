def foo; def bar;
def X { dag d = !setop((foo 1, 2), bar); dag e = !setdagop((foo:$n 1:$x), bar); }

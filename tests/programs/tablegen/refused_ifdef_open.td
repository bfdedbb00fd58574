#ifdef FOO
def a;

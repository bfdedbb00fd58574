def a;
#ifndef FOO
def b;

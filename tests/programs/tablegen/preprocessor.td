#define FOO
#ifdef FOO
def a;
#else
def b; this is not tablegen
#endif
#ifndef FOO
def c;
#ifdef BAR
garbage {{{
#else
more garbage
#endif
#else // comment
def d;
#endif /* done */
  #ifdef FOO
def e;
  #endif

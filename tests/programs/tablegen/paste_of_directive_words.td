def a#define ;
foreach i = ["x"] in def b#ifdef# i;
def c#endif;

def zeta; def Alpha; def _under; def a10; def a9; class zc; class Ac;

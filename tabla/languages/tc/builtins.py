"""The functions that every program may call, by their number of arguments: those of CUDA, and our own."""

from __future__ import annotations

_BY_ARITY = {
    1: (
        "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erfc erfcinv erfcx erf "
        "erfinv exp10 exp2 exp expm1 fabs floor j0 j1 lgamma log10 log1p log2 logb log normcdf normcdfinv rcbrt round "
        "rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1"
    ),
    2: "atan2 copysign fdim fdivide fmax fmin fmod hypot nextafter pow remainder rhypot",
    3: "fma norm3d rnorm3d",
    4: "norm4d rnorm4d",
}

ARITY: dict[str, int] = {name: arity for arity, names in _BY_ARITY.items() for name in names.split()}
"""The functions of CUDA. Nothing of a program may have such a name."""
OWN: dict[str, int] = {"softplus": 1}
"""Those of them that only we have. A function, a size or a tensor of a program may have such a name, and hides it."""

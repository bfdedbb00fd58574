"""The built-in functions in float64, by name. Those of rare use come from SciPy, where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from tabla.base.source import Label, Span, TablaError
from tabla.graph.composed_functions import COMPOSED_FUNCTIONS

Array = np.ndarray[Any, np.dtype[Any]]
Real = Callable[..., Array]


def _round(x: Array) -> Array:
    """To the nearest, halves away from zero."""
    return np.asarray(np.trunc(x + np.copysign(0.5, x)))


def _norm(*parts: Array) -> Array:
    largest = np.maximum.reduce([np.abs(part) for part in np.broadcast_arrays(*parts)])
    scale = np.where(largest == 0, 1.0, largest)
    return np.asarray(scale * np.sqrt(sum((part / scale) ** 2 for part in parts)))


_PLAIN: Mapping[str, Real] = {
    "acosh": np.arccosh, "asinh": np.arcsinh, "atanh": np.arctanh, "cbrt": np.cbrt, "cos": np.cos,
    "cospi": lambda x: np.cos(np.pi * np.fmod(x, 2.0)), "cyl_bessel_i0": np.i0, "exp10": lambda x: np.power(10.0, x),
    "exp2": np.exp2, "exp": np.exp, "expm1": np.expm1, "fabs": np.abs, "log10": np.log10,
    "log1p": np.log1p, "log2": np.log2, "logb": lambda x: np.frexp(x)[1] - 1.0, "log": np.log,
    "rcbrt": lambda x: 1.0 / np.cbrt(x), "round": _round, "rsqrt": lambda x: 1.0 / np.sqrt(x), "sin": np.sin,
    "sinpi": lambda x: np.sin(np.pi * np.fmod(x, 2.0)), "sqrt": np.sqrt,
    "tanh": np.tanh, "trunc": np.trunc, "copysign": np.copysign,
    "fdim": lambda x, y: np.maximum(x - y, 0.0), "fdivide": np.divide, "fmax": np.fmax, "fmin": np.fmin,
    "fmod": np.fmod, "hypot": np.hypot, "nextafter": np.nextafter, "pow": np.power,
    "remainder": lambda x, y: x - y * np.rint(x / y), "rhypot": lambda x, y: 1.0 / np.hypot(x, y),
    "fma": lambda x, y, z: x * y + z, "norm3d": _norm, "rnorm3d": lambda *x: 1.0 / _norm(*x), "norm4d": _norm,
    "rnorm4d": lambda *x: 1.0 / _norm(*x),
    **{name: composed.reals for name, composed in COMPOSED_FUNCTIONS.items()},
}  # fmt: skip


@cache
def _special() -> Mapping[str, Real]:
    from scipy import special  # type: ignore[import-untyped, import-not-found, unused-ignore]

    return {
        "cyl_bessel_i1": special.i1, "erfcinv": special.erfcinv, "erfcx": special.erfcx,
        "erf": special.erf, "erfinv": special.erfinv, "j0": special.j0, "j1": special.j1, "lgamma": special.gammaln,
        "normcdf": special.ndtr, "normcdfinv": special.ndtri, "tgamma": special.gamma, "y0": special.y0,
        "y1": special.y1,
    }  # fmt: skip


def real_function(name: str, span: Span) -> Real:
    """Return the function. Raises `TablaError` at `span` where it needs SciPy, which is not installed."""
    if name in _PLAIN:
        return _PLAIN[name]
    try:
        return _special()[name]
    except ImportError:
        message = f"'{name}' needs SciPy, which is not installed"
        raise TablaError(message, Label(span), hint="pip install scipy") from None

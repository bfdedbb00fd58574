"""The errors that programs learn from: for each output o, the derivative e of a loss by the decision value h."""

from __future__ import annotations

# The labels of the hinges are 1 and -1.
_ERRORS = {
    "squared": ("e[o] = h[o] - y[o];",),
    "logistic": ("e[o] = sigmoid(h[o]) - y[o];",),
    "softmax": (
        # The largest decision value is taken from all, so that no power saturates. Half of the difference of two
        # decision values is a word wherever they are words; a whole one would need a format with twice the range.
        "s[o] = exp(0.5 * h[o] - 0.5 * max[c](h[c]));",
        "p[o] = s[o] * s[o] / sum[c](s[c] * s[c]);",
        "e[o] = p[o] - y[o];",
    ),
    "hinge": ("e[o] = -((y[o] * h[o] < 1) * y[o]);",),
    "squared_hinge": ("e[o] = (y[o] * h[o] < 1) * (2 * h[o] - 2 * y[o]);",),
}


def error_of(loss: str) -> tuple[str, ...]:
    """Return the statements that compute the error of a loss. They may need the iterators of `iterators_of`."""
    return _ERRORS[loss]


def iterators_of(loss: str) -> tuple[str, ...]:
    """Return the declarations of the iterators that the error of a loss needs beside o, over the k outputs."""
    return ("iterator     c[0:k];",) if loss == "softmax" else ()

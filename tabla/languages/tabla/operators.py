"""What TABLA can compute: operators, functions of values, and group functions over iterators."""

from __future__ import annotations

from enum import Enum


class Operator(Enum):
    """A binary operator; comparisons give 0 or 1."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    EQUAL = "=="
    NOT_EQUAL = "!="


class Function(Enum):
    """A function of values: ``sigmoid(t) = 1/(1+exp(-t))``, ``sig_sym(t) = tanh(t)``,
    ``gaussian(t) = exp(-t*t)``, ``softplus(t) = log(1+exp(t))``, natural ``log``, and ``atan2(y, x)``, the angle of
    the point (x, y); the others as in mathematics."""

    SIGMOID = "sigmoid"
    SIG_SYM = "sig_sym"
    GAUSSIAN = "gaussian"
    LOG = "log"
    EXP = "exp"
    SQRT = "sqrt"
    TANH = "tanh"
    SOFTPLUS = "softplus"
    ABS = "abs"
    MIN = "min"
    MAX = "max"
    ATAN2 = "atan2"


class GroupFunction(Enum):
    """A function over the range of one or more iterators; ``norm[i](e) = sqrt(sum[i](e*e))``.

    `MIN` and `MAX` give the smallest and the largest value. Without an iterator their names are those of functions.
    """

    SUM = "sum"
    PI = "pi"
    NORM = "norm"
    MIN = "min"
    MAX = "max"


FUNCTIONS = {function.value: function for function in Function} | {"sigmoid_symmetric": Function.SIG_SYM}
GROUP_FUNCTIONS = {function.value: function for function in GroupFunction}

WRITTEN: dict[str, str] = {
    "softmax": "e[i] = exp(z[i] - max[j](z[j])); p[i] = e[i] / sum[j](e[j]); // j has the range of i",
    "relu": "max(a, 0)",
    "leaky_relu": "max(a, 0.01 * a)",
    "clip": "min(max(a, low), high)",
    "clamp": "min(max(a, low), high)",
    "sign": "(a > 0) - (a < 0)",
    "square": "a * a",
    "pow": "a * a * a",
    "mean": "sum[i](x[i]) / n",
    "average": "sum[i](x[i]) / n",
    "dot": "sum[i](w[i] * x[i])",
    "matmul": "y[i] = sum[j](w[i][j] * x[j]);",
    "prod": "pi[i](x[i])",
    "logistic": "sigmoid(a)",
    "ln": "log(a)",
    "log2": "log(a) / log(2)",
    "log10": "log(a) / log(10)",
}
"""How a program writes functions that other languages have."""


def arity(function: Function) -> int:
    """Return how many arguments `function` takes."""
    return 2 if function in (Function.MIN, Function.MAX, Function.ATAN2) else 1

"""Programs of models with one layer: a weighted sum of the measurements for each output."""

from __future__ import annotations

from tabla.sklearn.errors import error_of, iterators_of
from tabla.sklearn.program import Program


def linear_program(
    loss: str, *, features: int, outputs: int, intercept: bool, decays: bool, learning_rate: str
) -> Program:
    """Return the program that learns ``h = w x + b`` by a loss.

    `loss` is ``squared`` (half the squared error), ``logistic``, ``softmax``, ``hinge`` or ``squared_hinge``. Without
    `intercept` there is no b. With `decays` a sample has the input ``decay``, and shrinks the weights by that part of
    the learning rate.
    """
    b, gb = (", b[k]", ", gb[k] -> b") if intercept else ("", "")
    lines = [
        f"model_input  x[m]{', decay' * decays};",
        "model_output y[k];",
        f"model        w[k][m]{b};",
        f"gradient     gw[k][m] -> w{gb};",
        "iterator     i[0:m];",
        "iterator     o[0:k];",
        *iterators_of(loss),
        "",
        f"h[o] = sum[i](w[o][i] * x[i]){' + b[o]' * intercept};",
        *error_of(loss),
        f"gw[o][i] = e[o] * x[i]{' + decay * w[o][i]' * decays};",
        *(["gb[o] = e[o];"] * intercept),
    ]
    sizes = "m = 2; k = 1; mu = 0.0625;  // features, outputs and the learning rate"
    return Program(
        name=f"{loss}_loss",
        text="\n".join([sizes, "", *lines, ""]),
        constants=(("k", str(outputs)), ("m", str(features)), ("mu", learning_rate)),
    )

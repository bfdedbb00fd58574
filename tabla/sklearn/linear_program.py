"""Programs of models with one layer: a weighted sum of the measurements for each output."""

from __future__ import annotations

from tabla.sklearn.program import Program

SOFTMAX = (
    # The largest decision value is taken from all, so that no power saturates. Half of the difference of two decision
    # values is a word wherever they are words; a whole one would need a format with twice the range.
    "s[o] = exp(0.5 * h[o] - 0.5 * max[c](h[c]));",
    "p[o] = s[o] * s[o] / sum[c](s[c] * s[c]);",
    "e[o] = p[o] - y[o];",
)
"""The statements that compute the error e of a softmax of the decision values h, which need an iterator c like o."""
# Each error is the derivative of the loss by the decision value h. The labels of the hinges are 1 and -1.
_ERRORS = {
    "squared": "e[o] = h[o] - y[o];",
    "logistic": "e[o] = sigmoid(h[o]) - y[o];",
    "hinge": "e[o] = -((y[o] * h[o] < 1) * y[o]);",
    "squared_hinge": "e[o] = (y[o] * h[o] < 1) * (2 * h[o] - 2 * y[o]);",
    "softmax": "\n".join(SOFTMAX),
}


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
        *(["iterator     c[0:k];"] * (loss == "softmax")),
        "",
        f"h[o] = sum[i](w[o][i] * x[i]){' + b[o]' * intercept};",
        _ERRORS[loss],
        f"gw[o][i] = e[o] * x[i]{' + decay * w[o][i]' * decays};",
        *(["gb[o] = e[o];"] * intercept),
    ]
    sizes = "m = 2; k = 1; mu = 0.0625;  // features, outputs and the learning rate"
    return Program(
        name=f"{loss}_loss",
        text="\n".join([sizes, "", *lines, ""]),
        constants=(("k", str(outputs)), ("m", str(features)), ("mu", learning_rate)),
    )

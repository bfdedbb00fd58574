"""The program of a neuron with a threshold, which the tests of hosts run: two models, two gradients, one label."""

from __future__ import annotations


def linear_text(inputs: int) -> str:
    """Return the text for a number of inputs."""
    return f"""\
m = {inputs};
mu = 0.25;
model_input  x[m];
model_output y;
model        w[m], b;
gradient     gw[m] -> w, gb -> b;
iterator     i[0:m];
h = sum[i](w[i] * x[i]) + b;
e = h - y;
gw[i] = e * x[i];
gb = e;
"""

"""Cycles of the programs that people know, so that a slower schedule shows."""

from __future__ import annotations

import pytest

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.templates.template import template_for
from tests.schedule.agreement import agree

Q6_10 = Format(integer=6, fraction=10)
NEURON = """
mu = {mu};
model_input x[{n}]; model_output y; model w[{n}];
gradient g[{n}] -> w;
iterator i[0:{n}];
h = sum[i](w[i] * x[i]);
e = {error};
g[i] = e * x[i];
"""
ERRORS = {"linear": "h - y", "logistic": "sigmoid(h) - y", "svm": "(y*h < 1) * (0 - y)"}


@pytest.mark.parametrize(
    ("kind", "features", "pes", "most"),
    [
        ("linear", 55, 64, 28),
        ("logistic", 54, 64, 35),
        ("svm", 54, 64, 43),
        ("logistic", 200, 64, 38),
        ("linear", 784, 64, 45),
        ("linear", 784, 16, 125),
        ("logistic", 54, 1, 128),
    ],
)
def test_single_neurons(kind: str, features: int, pes: int, most: int) -> None:
    text = NEURON.format(n=features, error=ERRORS[kind], mu=0.125)
    graph = lower(parse(Source.from_text(text)), number_format=Q6_10)
    schedule = agree(graph, template_for(pes), Q6_10)
    assert schedule.cycles <= most

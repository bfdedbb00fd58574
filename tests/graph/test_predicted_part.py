"""What a prediction needs of a graph: the statements and the inputs that results depend on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.predicted_part import PredictedPart
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower

TEXT = """
mu = 0.25;
model_input x[3], z[3]; model_output y; model w[3], v[3];
gradient g[3] -> w, f[3] -> v;
iterator i[0:3];
s = sum[i](w[i] * x[i]);
h = sigmoid(s);
e = h - y;
g[i] = e * x[i];
f[i] = e * z[i];
"""


def graph_of(*results: str) -> Graph:
    return lower(parse(Source.from_text(TEXT)), number_format=Format(integer=6, fraction=10), results=results)


@pytest.mark.parametrize(
    ("results", "computed", "ignored"),
    [
        (("s",), {"s"}, ("z", "y")),
        (("h",), {"s", "h"}, ("z", "y")),
        # A result that depends on labels needs them.
        (("e", "s"), {"s", "h", "e"}, ("z",)),
        (("g",), {"s", "h", "e", "g"}, ("z",)),
    ],
)
def test_what_results_depend_on(results: tuple[str, ...], computed: set[str], ignored: tuple[str, ...]) -> None:
    graph = graph_of(*results)
    found = PredictedPart.of(graph)
    assert found is not None
    assert {graph.statements[number].target for number in found.statements} == computed
    assert found.ignored(graph) == ignored


def test_what_has_no_prediction() -> None:
    assert PredictedPart.of(graph_of()) is None
    learns = graph_of("h")
    assert PredictedPart.of(replace(learns, updates={})) is None
    # A result that an update makes is none with the models held.
    assert PredictedPart.of(replace(learns, results=(*learns.results, ("w'", learns.updates["w"])))) is None
    assert PredictedPart.needed(replace(learns, updates={})) == PredictedPart.of(learns)

"""What `train` measures by default: the value that the text compares with the label, and the metric that fits."""

from __future__ import annotations

import numpy as np
import pytest

from tabla.base.source import Source, TablaError
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.prediction import default_prediction, named_prediction
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.learn.metrics import MSE, accuracy_for, choose

HEAD = """m = 3; n = 2;
model_input x[m]; model_output y; model_output t[n]; model w[m], v[n][m];
gradient g[m] -> w, gv[n][m] -> v; iterator i[0:m]; iterator k[0:n];
"""
TAIL = "gv[k][i] = x[i]; g[i] = x[i];"


def graph_of(text: str, *results: str) -> Graph:
    return lower(
        parse(Source.from_text(HEAD + text + TAIL)), number_format=Format(integer=6, fraction=10), results=results
    )


@pytest.mark.parametrize(
    ("text", "name", "label", "margin", "residual"),
    [
        ("h = sum[i](w[i]*x[i]); e = h - y; d = e * 2;", "h", "y", False, 0),
        ("h = sum[i](w[i]*x[i]); e = y - h; d = e * 2;", "h", "y", False, 0),
        ("h = sigmoid(sum[i](w[i]*x[i])); d = (h - y) * h * (1 - h);", "h", "y", False, 0),
        ("e = sum[i](w[i]*x[i]) - y; d = e * 2;", "e", "y", False, -1),
        ("e = y - sum[i](w[i]*x[i]); d = e * 2;", "e", "y", False, 1),
        ("h = sum[i](w[i]*x[i]); c = y * h < 1;", "h", "y", True, 0),
        ("h = sum[i](w[i]*x[i]) > 0; c = h != y;", "h", "y", False, 0),
        ("h[k] = sum[i](v[k][i]*x[i]); e[k] = h[k] - t[k];", "h", "t", False, 0),
        # An input or a weight that is compared with a label is no prediction.
        ("s = y * w[0]; h = sum[i](w[i]*x[i]); e = h - y;", "h", "y", False, 0),
    ],
)
def test_default_prediction(text: str, name: str, label: str, margin: bool, residual: int) -> None:
    found = default_prediction(graph_of(text))
    assert (found.name, found.label, found.margin, found.residual) == (name, label, margin, residual)


def test_nothing_to_measure() -> None:
    with pytest.raises(TablaError, match="no value of the program is compared with a label"):
        default_prediction(graph_of("h = sum[i](w[i]*x[i]);"))


def test_named_prediction() -> None:
    graph = graph_of("h = sum[i](w[i]*x[i]); p[k] = sum[i](v[k][i]*x[i]); c = y * h < 1;", "h", "p", "c")
    assert named_prediction(graph, "p", ["y", "t"]).label == "t"
    assert named_prediction(graph, "c", ["y", "t"]).label == "y"
    assert named_prediction(graph, "h", ["y", "t"]).margin
    with pytest.raises(TablaError, match="no label of that shape"):
        named_prediction(graph, "p", ["y"])


def reals(*rows: object) -> np.ndarray:
    return np.array(rows, dtype=np.float64)


def test_accuracy_by_the_labels() -> None:
    half, sign = accuracy_for(reals(0, 1, 1)), accuracy_for(reals(-1, 1, 1))
    largest, each = accuracy_for(reals([0, 1, 0], [1, 0, 0])), accuracy_for(reals([0, 1, 1], [1, 0, 0]))
    assert half and sign and largest and each
    assert half.of(reals(0.4, 0.5, 0.1), reals(0, 1, 1)) == pytest.approx(2 / 3)
    assert sign.of(reals(-0.1, 0.0, -5), reals(-1, 1, 1)) == pytest.approx(2 / 3)
    assert largest.of(reals([0.1, 0.3, 0.2], [0.1, 0.3, 0.2]), reals([0, 1, 0], [1, 0, 0])) == 0.5
    assert each.of(reals([0.1, 0.9, 0.2], [0.9, 0.1, 0.2]), reals([0, 1, 1], [1, 0, 0])) == pytest.approx(5 / 6)
    assert accuracy_for(reals(0, 1, 2)) is None
    assert accuracy_for(reals(0.5, 1)) is None


def test_choice_of_metric() -> None:
    assert choose(None, reals(0, 1)).name == "accuracy"
    assert choose(None, reals(0, 1.5)) is MSE
    assert choose("mse", reals(0, 1)) is MSE
    with pytest.raises(TablaError, match="accuracy needs labels that are classes"):
        choose("accuracy", reals(0, 1.5))
    with pytest.raises(TablaError, match="unknown metric"):
        choose("beauty", reals(0, 1))


def test_values_of_metrics() -> None:
    predicted, labels = reals(1, 2, 4), reals(1, 3, 2)
    values = {name: choose(name, labels).of(predicted, labels) for name in ("mse", "mae", "r2")}
    assert values == pytest.approx({"mse": 5 / 3, "mae": 1.0, "r2": 1 - 5 / 2})
    assert choose("hinge", labels).of(reals(0.5, -1, 3), reals(1, 1, -1)) == pytest.approx((0.5 + 2 + 4) / 3)
    with pytest.raises(TablaError, match="r2 has no meaning"):
        choose("r2", labels).of(predicted, reals(2, 2, 2))

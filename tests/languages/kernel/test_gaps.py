"""What statements leave out: zeros between other elements, and sums whose conditions leave out values."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from tabla.base.source import Source, TablaError
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.verify import verify
from tabla.languages.kernel.evaluate import evaluate
from tabla.languages.kernel.lower import lower
from tabla.languages.kernel.parser import parse

FORMAT = Format.parse("q6.10")
HEAD = "input M[4, 4]: real; value N[4, 4]: real; N[i, j] = M[i, j] for i in 0:4, j in 0:4; "


@pytest.mark.parametrize("statement", ["N[k, k] = 0.0 for k in 0:4;", "N[2*k, 1] = 0.0 for k in 0:2;"])
def test_zeros_with_gaps_are_no_box(statement: str) -> None:
    """All elements of the box around a diagonal had been 0."""
    kernel = parse(Source.from_text(f"{HEAD}{statement} return N;", "x.kernel"), "x")
    with pytest.raises(TablaError, match="that a stride leaves out would keep their values"):
        lower(kernel, number_format=FORMAT)


def targets(text: str) -> list[tuple[str, int]]:
    """Return the target of each statement of the graph of a text, and how many elements it writes."""
    graph = lower(parse(Source.from_text(text, "x.kernel"), "x"), number_format=FORMAT)
    verify(graph)
    return [(each.target, prod(index.extent for index in each.indices)) for each in graph.statements]


def test_what_a_stride_leaves_is_written() -> None:
    """The tensor is not filled, which takes more cycles. The statements write each element once."""
    text = "input x[4]: real; value y[10]: real; y[3*i] = 2.0 * x[i] for i in 0:4; return y;"
    assert targets(text) == [("y", 4), ("y", 3), ("y", 3)]


def test_zeros_beside_elements_lie_with_them() -> None:
    text = "input x[4]: real; value y[6]: real; y[i+1] = 2.0 * x[i] for i in 0:4; {} return y;"
    borders = "y[i] = 0.0 for i in 0:1; y[i] = 0.0 for i in 5:6;"
    assert targets(text.format(borders)) == [("y", 4), ("y", 1), ("y", 1)]


WINDOW = "sum[k in 0:3 where i+k >= 1, i+k <= 4](x[i+k-1] * w[k])"


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (WINDOW, 1),
        (f"{WINDOW} + b[i]", 1),
        (f"b[i] - {WINDOW}", 1),
        (f"{WINDOW} / 4.0", 1),
        # Products that are scaled are a sum of their own beside others (decision 22).
        (f"0.25 * {WINDOW} + b[i] * b[i]", 2),
        (f"b[i] + {WINDOW} / 4.0 + 0.5", 2),
    ],
)
def test_a_sum_under_conditions_is_one_statement_with_what_is_added(value: str, count: int) -> None:
    text = f"input x[4]: real; input w[3]: real; input b[4]: real; value y[4]: real; y[i] = {value} for i in 0:4; "
    kernel = parse(Source.from_text(f"{text}return y;", "x.kernel"), "x")
    graph = lower(kernel, number_format=FORMAT)
    verify(graph)
    assert len(graph.statements) == count
    assert graph.statements[0].reduced and len(graph.statements[0].constraints) == 2
    chance = np.random.default_rng(2)
    shapes = {"x": 4, "w": 3, "b": 4}
    arrays = {name: chance.integers(-1024, 1024, shape) / 1024 for name, shape in shapes.items()}
    words = {name: np.round(arrays[name] * FORMAT.one).astype(np.int64) for name in arrays if name in graph.tensors}
    found = evaluate_fixed(graph, FORMAT, words).values["y"] / FORMAT.one
    np.testing.assert_allclose(found, evaluate(kernel, arrays)["y"], atol=0.5 * count / FORMAT.one)


@pytest.mark.parametrize("value", [f"{WINDOW} + {WINDOW}", f"b[i] * {WINDOW}", f"exp({WINDOW}) + b[i]"])
def test_other_sums_under_conditions_are_words(value: str) -> None:
    text = f"input x[4]: real; input w[3]: real; input b[4]: real; value y[4]: real; y[i] = {value} for i in 0:4; "
    graph = lower(parse(Source.from_text(f"{text}return y;", "x.kernel"), "x"), number_format=FORMAT)
    verify(graph)
    assert len(graph.statements) > 1 and not graph.statements[-1].reduced

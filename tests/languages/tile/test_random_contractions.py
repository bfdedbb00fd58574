"""Random contractions with constraints: the evaluation, the graph and its words against trying all index values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import TablaError
from tabla.graph.format import Format
from tabla.graph.verify import verify
from tabla.languages.tile.lower import lower
from tests.graph.runs import evaluate_float
from tests.languages.tile.meaning import evaluate
from tests.languages.tile.random_contractions import Drawn, Form, contractions


@settings(max_examples=120)
@given(contractions(), st.integers(0, 999))
def test_a_contraction_is_what_trying_all_values_gives(drawn: Drawn, seed: int) -> None:
    hold(drawn, seed)


PLAIN = Form((1, 0, 0), 0, 1)
CORNERS = {
    "a common factor in a constraint": Drawn(
        "sum", "multiply", (3,), (PLAIN,), ((5,), (4,)), ((Form((2, 2, 0), -1, 1),), (Form((0, 1, 0), 1, 1),)), ()
    ),
    "outputs without any point": Drawn(
        "max", "add", (6,), (PLAIN,), ((3,), (3,)), ((Form((1, 1, 0), -4, 1),), (Form((0, 1, 0), 0, 1),)), ()
    ),
    "a point only where two sums agree": Drawn(
        "max",
        "add",
        (4,),
        (PLAIN,),
        ((4,), (3,)),
        ((Form((1, 1, 0), -2, 1),), (Form((0, 1, 0), 0, 1),)),
        ((Form((1, -1, 0), 0, 1), 4),),
    ),
    "a product without any point": Drawn(
        "product", "none", (4,), (PLAIN,), ((4,),), ((Form((0, 1, 0), 0, 1),),), ((Form((1, -1, 0), -2, 1), 4),)
    ),
    "a quotient of two indices": Drawn(
        "sum", "multiply", (4,), (PLAIN,), ((3,), (4,)), ((Form((1, 1, 0), 0, 2),), (Form((0, 1, 0), 0, 1),)), ()
    ),
}


@pytest.mark.parametrize("name", sorted(CORNERS))
def test_corners(name: str) -> None:
    hold(CORNERS[name], 4)


def hold(drawn: Drawn, seed: int) -> None:
    """The evaluation and the graph against trying all index values."""
    random = np.random.default_rng(seed)
    arrays = [random.integers(-3, 4, shape).astype(float) for shape in drawn.shapes]
    expected, counts = drawn.brute(arrays)
    if drawn.aggregation == "assign" and (counts > 1).any():
        with pytest.raises(TablaError, match="assigned more than once"):
            drawn.traced()
        return
    program, named = drawn.traced(), dict(zip("ABC", arrays, strict=False))
    np.testing.assert_allclose(evaluate(program, named)["out0"], expected, rtol=1e-12)
    graph = lower(program, number_format=Format.parse("q16.8"))
    verify(graph)
    np.testing.assert_allclose(evaluate_float(graph, named).values[graph.results[0][1]], expected, rtol=1e-12)

"""The bias of a layer joins its sum: one statement, and one rounding (decision 47)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tabla.graph.graph import Linear
from tests.languages.onnx.models import FORMAT, Case, close, drawn, node, read

IMAGE = (3, 5, 6)


def conv(weights: tuple[int, ...], shape: tuple[int, ...] = IMAGE, **attributes: Any) -> Case:
    """Return a convolution with a bias."""
    arrays = {"w": drawn(*weights, scale=0.4), "b": drawn(weights[0], scale=0.3)}
    return Case(nodes=[node("Conv", "x w b", "y", **attributes)], arrays=arrays, shapes={"x": shape})


def statements(case: Case) -> list[tuple[str, int]]:
    """Return the target of each statement of the graph, and the number of its terms; 0 if it is no sum."""
    return [
        (each.target, len(each.operation.terms) if isinstance(each.operation, Linear) else 0)
        for each in read(case.proto()).graph.statements
    ]


GEMM = Case(nodes=[node("Gemm", "x w b", "y")], arrays={"w": drawn(6, 4), "b": drawn(4)})


@pytest.mark.parametrize("case", [GEMM, conv((4, 3, 3, 3)), conv((3, 1, 3, 3), group=3, pads=[1, 1, 1, 1])])
def test_a_layer_is_one_statement(case: Case) -> None:
    assert statements(case) == [("y", 2)]


def test_a_separate_addition_keeps_its_rounding() -> None:
    parts = Case(nodes=[node("MatMul", "x w", "t"), node("Add", "t b", "y")], arrays=GEMM.arrays)
    assert statements(parts) == [("t", 1), ("y", 2)]


def test_a_multiple_of_a_product_with_a_bias() -> None:
    """The factor multiplies each term of the sum, so that a large product does not saturate before."""
    scaled = Case(nodes=[node("Gemm", "x w b", "y", alpha=0.25, beta=2.0)], arrays=GEMM.arrays)
    close(read(scaled.proto(), format=FORMAT).evaluate(scaled.samples())["y"], scaled.expected()["y"])
    large = {"w": np.full((4, 1), 2.5, np.float32), "b": np.array([-3.0], np.float32)}
    case = Case(nodes=[node("Gemm", "x w b", "y", alpha=0.25)], arrays=large, shapes={"x": (4,)})
    assert read(case.proto(), format="q4.4").evaluate({"x": np.ones((1, 4))})["y"] == [[-0.5]]


def test_the_sum_may_leave_the_format_before_the_bias() -> None:
    """4 * 2.5 is beyond the words of q4.4, which end below 8; with the bias the sum is 7."""
    arrays = {"w": np.full((4, 1), 2.5, np.float32), "b": np.array([-3.0], np.float32)}
    layer = Case(nodes=[node("Gemm", "x w b", "y")], arrays=arrays, shapes={"x": (4,)})
    parts = Case(nodes=[node("MatMul", "x w", "t"), node("Add", "t b", "y")], arrays=arrays, shapes={"x": (4,)})
    x = np.ones((1, 4))
    assert read(layer.proto(), format="q4.4").evaluate({"x": x})["y"] == [[7.0]]
    assert read(parts.proto(), format="q4.4").evaluate({"x": x})["y"] == [[8 - 1 / 16 - 3]]


BORDERS = {
    "windows in the padding alone": conv((2, 3, 1, 1), pads=[1, 1, 1, 1]),
    "windows that jump over the image": conv((2, 3, 2, 1), (3, 2, 4), dilations=[3, 1], pads=[3, 0, 3, 0]),
    "uneven pads": conv((2, 3, 2, 3), pads=[0, 2, 1, 1]),
    "channels": conv((6, 1, 2, 2), group=3, pads=[1, 0, 0, 1]),
}


@pytest.mark.parametrize("name", BORDERS)
def test_a_bias_at_borders(name: str) -> None:
    case = BORDERS[name]
    close(read(case.proto(), format=FORMAT).evaluate(case.samples())["y"], case.expected()["y"])


def _rounded_once(case: Case, words: NDArray[np.int64], fraction: int, width: int) -> NDArray[np.int64]:
    """Return the words of a convolution of stride 1 without padding, in exact integers."""
    weights, bias = (np.rint(np.asarray(case.arrays[n], float) * 2**fraction).astype(np.int64) for n in "wb")
    samples, _, high, wide = words.shape
    outputs, channels, rows, columns = weights.shape
    groups = next(int(each.i) for each in case.nodes[0].attribute if each.name == "group")
    result = np.zeros((samples, outputs, high - rows + 1, wide - columns + 1), np.int64)
    for out, y, x in np.ndindex(*result.shape[1:]):
        first = out // (outputs // groups) * channels
        window = words[:, first : first + channels, y : y + rows, x : x + columns]
        total = (window * weights[out]).sum(axis=(1, 2, 3)) + (bias[out] << fraction)
        result[:, out, y, x] = (total + (1 << (fraction - 1))) >> fraction
    return np.clip(result, -(1 << (width - 1)), (1 << (width - 1)) - 1)


@pytest.mark.parametrize(("weights", "groups"), [((5, 3, 2, 3), 1), ((3, 1, 3, 3), 3), ((6, 1, 3, 2), 3)])
def test_words_on_the_machine(weights: tuple[int, ...], groups: int) -> None:
    """`simulate` holds every word against the evaluation, and this test holds the evaluation against integers."""
    case = conv(weights, group=groups)
    drawn_words = np.random.default_rng(0).integers(-128, 128, (2, *IMAGE))
    build = read(case.proto(), format="q3.5", pes=4, effort=0, saturate=True)
    found = build.simulate({"x": drawn_words / 2**5}).arrays["y"]
    expected = _rounded_once(case, drawn_words, 5, 8)
    assert np.array_equal(found * 2**5, expected)
    assert (np.abs(expected) >= 127).any() and (np.abs(expected) < 127).any()

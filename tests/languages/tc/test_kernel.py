"""Tensor Comprehensions as kernels: the meaning of the language, and the words of its own lowering."""

from __future__ import annotations

import numpy as np
import pytest

from tabla.base.source import Source, TablaError
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.verify import verify as verify_graph
from tabla.languages.kernel.evaluate import evaluate
from tabla.languages.kernel.lower import lower as lower_kernel
from tabla.languages.kernel.parser import parse as parse_kernel
from tabla.languages.kernel.text import kernel_text
from tabla.languages.tc import parse
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.evaluate import evaluate as evaluate_function
from tabla.languages.tc.lower.function import lower_function
from tabla.languages.tc.lower.kernel import kernel_of
from tests.languages.tc.lower.test_programs import FORMAT, function_of, words_of
from tests.languages.tc.references import REFERENCES

REFUSED = {
    **dict.fromkeys(
        ("any_above", "argmin", "cast", "count_positive", "cross_entropy", "digits", "embedding", "embedding_bag",
         "embedding_two", "factorials", "gather", "gather_two", "histogram", "integers", "lookup_checked",
         "masked_conv1d", "min_distance", "one_hot", "perforated_conv1d", "ranks", "scatter_add", "shift_rows"),
        "holds",
    ),
    **dict.fromkeys(("sparse_convolution", "table_of_squares"), "a subscript that data choose"),
    "edges": "where a condition chooses another value",
    "matmul_accumulate": "is passed in, and changed",
}  # fmt: skip
"""Programs that no kernel says yet, with a part of the reason."""
ROUNDED_ONCE = {"attention"}
"""Programs with a multiple of a sum in two statements, which a kernel rounds once for every factor."""


@pytest.mark.parametrize("name", sorted(REFERENCES.keys() - REFUSED.keys()))
def test_the_kernel_means_the_program(name: str) -> None:
    function, inputs = function_of(name), REFERENCES[name].draw(5)
    sizes = bind_sizes(function, {given: array.shape for given, array in inputs.items()})
    kernel = kernel_of(function, sizes, name="k")
    assert parse_kernel(Source.from_text(kernel_text(kernel)), "k") == kernel
    expected, found = evaluate_function(function, inputs), evaluate(kernel, inputs)
    for result in function.results:
        np.testing.assert_allclose(found[result], expected[result], rtol=1e-9, atol=1e-12)
    graph, own = lower_kernel(kernel, number_format=FORMAT), lower_function(function, sizes, number_format=FORMAT)
    verify_graph(graph)
    words = words_of(function, inputs, FORMAT)
    ours, theirs = (evaluate_fixed(each, FORMAT, words).values for each in (graph, own))
    assert [shown for shown, _ in graph.results] == [shown for shown, _ in own.results]
    for (_, one), (_, other) in zip(graph.results, own.results, strict=True):
        apart = np.abs(ours[one] - theirs[other]).max()
        assert apart <= (1 if name in ROUNDED_ONCE else 0), name


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused(name: str) -> None:
    function, inputs = function_of(name), REFERENCES[name].draw(5)
    sizes = bind_sizes(function, {given: array.shape for given, array in inputs.items()})
    with pytest.raises(TablaError, match=REFUSED[name]) as caught:
        kernel_of(function, sizes, name="k")
    assert caught.value.labels and caught.value.hint


CORNERS = {
    "a condition that leaves old elements out": (
        "def f(float(N) a) -> (c) { c(i) = a(i)  c(i) = i > 2 ? a(i - 2) : 0 }",
        [1, 2, 0, 2, 3, 4, 5],
    ),
    "a part that goes on": ("def f(float(N) a) -> (c) { c(i) = a(i)  c(i) += a(i) where i in 2:4 }", [1, 2, 6, 8, 5]),
    "a tensor that begins below 0": (
        "def f(float(N) a) -> (c) { t(i) = a(i + 2) where i in -2:3  c(i) = t(i - 1) where i in 0:4 }",
        [2, 3, 4, 5],
    ),
    "a reduction that begins anew": (
        "def f(float(N) a) -> (c) { c(i) = a(i)  c(i) +=! a(i) * k where i in 1:3, k in 0:3 }",
        [0, 6, 9, 0, 0],
    ),
    "an index with the name of a tensor": (
        """def g(float(K) x) -> (y) { y(a) = x(a) + x(a) }
           def f(float(N) a) -> (c) { c = g(a) }""",
        [2, 4, 6, 8, 10],
    ),
    "a call with shifted elements": (
        """def g(float(K) x) -> (y) { y(k) = x(k + 1) }
           def f(float(N) a) -> (c) { t(i) = a(i) where i in 1:5  c = g(t) }""",
        [2, 3, 4, 5],
    ),
    "a sum over a triangle": ("def f(float(N) a) -> (c) { c(i) +=! a(j) where i in 0:5, j in 0:i }", [0, 1, 3, 6, 10]),
    "a power by an index": ("def f(float(N) a) -> (c) { c(i) = pow(a(1), i) where i in 0:5 }", [1, 2, 4, 8, 16]),
    "halves": ("def f(float(N) a) -> (c) { c(i) = a(i / 2) where i in 0:6 }", [1, 1, 2, 2, 3, 3]),
}


@pytest.mark.parametrize("name", CORNERS)
def test_corners(name: str) -> None:
    text, expected = CORNERS[name]
    function = parse(Source.from_text(text)).function()
    array = np.arange(1.0, 6.0)
    inputs = {function.inputs[0]: array}
    kernel = kernel_of(function, {"N": 5}, name="k")
    found = evaluate(kernel, inputs)["c"]
    np.testing.assert_allclose(found, evaluate_function(function, inputs)["c"])
    assert found.tolist() == expected
    graph = lower_kernel(kernel, number_format=FORMAT)
    verify_graph(graph)
    words = {given: np.asarray(values * FORMAT.one, dtype=np.int64) for given, values in inputs.items()}
    values = evaluate_fixed(graph, FORMAT, words).values
    np.testing.assert_array_equal(values[dict(graph.results)["c"]], found * FORMAT.one)

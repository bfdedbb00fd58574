"""Tensor Comprehensions as kernels: the meaning of the language, and the words that programs have."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tabla.base.source import Source, TablaError
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.verify import verify as verify_graph
from tabla.languages.kernel.evaluate import evaluate
from tabla.languages.kernel.lower import lower as lower_kernel
from tabla.languages.kernel.parser import parse as parse_kernel
from tabla.languages.kernel.text import kernel_text
from tabla.languages.tc import parse
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.evaluate import evaluate as evaluate_function
from tabla.languages.tc.lower import lower
from tabla.languages.tc.lower.kernel import kernel_of
from tests.languages.tc.lower.test_programs import FORMAT, function_of, words_of
from tests.languages.tc.references import REFERENCES

FORMATS = [FORMAT, Format.parse("q6.10")]


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_the_kernel_means_the_program(name: str) -> None:
    function, inputs = function_of(name), REFERENCES[name].draw(5)
    sizes = bind_sizes(function, {given: array.shape for given, array in inputs.items()})
    kernel = kernel_of(function, sizes, name="k")
    assert parse_kernel(Source.from_text(kernel_text(kernel)), "k") == kernel
    expected, found = evaluate_function(function, inputs), evaluate(kernel, inputs)
    for result in function.results:
        np.testing.assert_allclose(found[result], expected[result], rtol=1e-9, atol=1e-12)


def test_words(golden: Callable[[str, str], None]) -> None:
    """The words of all programs in two formats, as digests. They are those of the lowering that the language had before
    it had kernels, but for two attentions, whose last places differ.
    """
    lines = []
    for name in sorted(REFERENCES):
        function, draws = function_of(name), [REFERENCES[name].draw(seed) for seed in (5, 6)]
        sizes = bind_sizes(function, {given: array.shape for given, array in draws[0].items()})
        digest = hashlib.sha256()
        for number in FORMATS:
            graph = lower(function, sizes, number_format=number)
            for inputs in draws:
                values = evaluate_fixed(graph, number, words_of(function, inputs, number)).values
                for shown, tensor in graph.results:
                    digest.update(f"{shown} {values[tensor].tolist()}".encode())
        lines.append(f"{name} {digest.hexdigest()[:16]}")
    golden("tc/words.txt", "\n".join(lines))


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


TYPED = {
    "integers divide toward zero": (
        "def f(int32(N) n) -> (c) { c(i) = n(i) / 3 - n(i) % 2 * 7 }",
        {"n": [-7, -1, 0, 5, 8]},
        [5, 7, 0, -6, 2],
    ),
    "truth values": (
        "def f(float(N) a, bool(N) m) -> (c, d) { c +=! m(i) && a(i) > 1.0  d *=! m(i) || a(i) < 3.0 }",
        {"a": [1, 2, 3, 4, 5], "m": [True, False, True, False, False]},
        [True, False],
    ),
    "a maximum of no values": (
        """def f(int32(N) n) -> (c) { t(i) max=! n(j) where i in 0:N, j in 0:i  c(i) = t(i) < -1000 ? 0 : t(i) }""",
        {"n": [3, -5, 7, 1, 2]},
        [0, 3, 3, 7, 7],
    ),
    "a position under conditions": (
        """def f(float(N) a, int32(N) n) -> (c) {
            c(i) = n(i) >= 0 && i > 0 ? (n(i) < N ? a(n(i)) : 10.0) : 20.0 }""",
        {"a": [1, 2, 3, 4, 5], "n": [2, -1, 5, 1, 4]},
        [20, 20, 10, 2, 5],
    ),
    "a position where a condition fails": (
        """def f(float(N) a, int32(N) n) -> (c) {
            c(i) = n(i) < 0 || a(n(i)) > 4.0 ? 10.0 : (n(i) > 0 && a(n(i) - 1) > 1.0 ? a(n(i)) : 20.0) }""",
        {"a": [1, 2, 3, 4, 5], "n": [2, -1, 0, 1, 4]},
        [3, 10, 20, 20, 10],
    ),
    "a padded copy in a sum": (
        "def f(float(N) a) -> (c) { c(i) +=! i + k >= 1 ? a(i + k - 1) : 0.5 where i in 0:N, k in 0:2 }",
        {"a": [1, 2, 3, 4, 5]},
        [1.5, 3, 5, 7, 9],
    ),
    "a padded copy of what begins below 0": (
        """def f(float(N) a) -> (c) { t(i) = a(i + 2) where i in -2:3
            c(i) = t(i) + (i >= -1 ? t(i - 1) : 7.0) * (i < 2 ? t(i + 1) : 0.0) where i in -2:3 }""",
        {"a": [1, 2, 3, 4, 5]},
        [15, 5, 11, 19, 5],
    ),
    "positions in what begins below 0": (
        "def f(float(N) a, int32(N) n) -> (c) { t(i) = a(i + 2) where i in -2:3  c(i) = t(n(i) - 1) where i in 0:5 }",
        {"a": [1, 2, 3, 4, 5], "n": [-1, 3, 0, 1, 2]},
        [1, 5, 2, 3, 4],
    ),
    "a position in a part that grows": (
        """def f(float(N) a, int32(N) n) -> (c) {
            c(i) = a(i) where i in 0:3  t(i) = c(n(i) % 3)  c(i) = t(i - 3) where i in 3:6  c(i) *=! c(i) + 1.0 }""",
        {"a": [1, 2, 3, 4, 5], "n": [2, 1, 0, 4, 5]},
        [2, 2, 2, 2, 2, 2],
    ),
    "integers of a call": (
        "def g(int32(K) x) -> (y) { y(k) = x(k) * x(k) }\ndef f(int32(N) n) -> (c) { t = g(n)  c(i) = t(i) - n(i) }",
        {"n": [1, -2, 3, 0, 5]},
        [0, 6, 6, 0, 20],
    ),
    "a call whose result grows": (
        """def g(float(K) x) -> (y) { y(k) = x(k) * 2.0 }
           def f(float(N) a) -> (c) { c = g(a)  c(i) = a(i - 5) where i in 5:7 }""",
        {"a": [1, 2, 3, 4, 5]},
        [2, 4, 6, 8, 10, 1, 2],
    ),
    "a sum that conditions begin anew": (
        "def f(float(N) a) -> (c) { c(i) = a(i)  c(i) +=! i > 2 ? a(j) : 0.0 where i in 0:N }",
        {"a": [1, 2, 3, 4, 5]},
        [0, 0, 0, 15, 15],
    ),
    "the caller's tensor": (
        "def f(float(N) a, int32(N) n) -> (c) { c(i) += a(n(i))  c(i) = 0.5 where i in 1:2 }",
        {"a": [1, 2, 3, 4, 5], "n": [4, 3, 2, 1, 0], "c": [10, 20, 30, 40, 50]},
        [15, 0.5, 33, 42, 51],
    ),
    "a power of an integer": (
        "def f(int32(N) n) -> (c) { c(i) = pow(float(n(i)), 2) + pow(float(n(i)), i) }",
        {"n": [1, -2, 3, 0, 1]},
        [2, 2, 18, 0, 2],
    ),
}


@pytest.mark.parametrize("name", TYPED)
def test_types_and_positions(name: str) -> None:
    text, arrays, expected = TYPED[name]
    function = parse(Source.from_text(text)).function()
    inputs: dict[str, np.ndarray[Any, Any]] = {given: np.asarray(array) for given, array in arrays.items()}
    sizes = bind_sizes(function, {given: array.shape for given, array in inputs.items()})
    kernel = kernel_of(function, sizes, name="k")
    assert parse_kernel(Source.from_text(kernel_text(kernel)), "k") == kernel
    found, meant = evaluate(kernel, inputs), evaluate_function(function, inputs)
    for result in function.results:
        np.testing.assert_array_equal(found[result], meant[result])
    shown = [found[result].tolist() for result in function.results]
    assert (shown if len(shown) > 1 else shown[0]) == expected
    graph = lower(function, sizes, number_format=FORMAT)
    verify_graph(graph)
    words = evaluate_fixed(graph, FORMAT, words_of(function, inputs, FORMAT)).values
    for result, tensor in graph.results:
        one = 1 if function.tensors[result].scalar.integral else FORMAT.one
        np.testing.assert_array_equal(words[tensor], found[result] * one)


def test_a_callers_tensor_that_grows_is_refused() -> None:
    text = "def f(float(N) a) -> (c) { c(i) += a(i) where i in 0:2  c(i) = a(i) where i in 2:4 }"
    with pytest.raises(TablaError, match="'c' is passed in, and gets more elements later") as caught:
        kernel_of(parse(Source.from_text(text)).function(), {"N": 4}, name="k")
    assert caught.value.labels and caught.value.hint

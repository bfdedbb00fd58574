"""Corners of the kernels of Tile functions: names, depths, constants, and results that nothing computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabla import tile
from tabla.base.source import Source
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.verify import verify
from tabla.languages.kernel.lower import lower as lower_kernel
from tabla.languages.kernel.parser import parse
from tabla.languages.kernel.text import kernel_text
from tabla.languages.tile import trace
from tabla.languages.tile.kernel import translated
from tabla.languages.tile.lower import lower
from tabla.tile import TensorIndexes, TensorOutput
from tests.languages.tile.meaning import evaluate
from tests.languages.tile.references import REFERENCES, traced

X = np.array([0.5, -1.25, 2.0, 3.0])
FORMAT = Format.parse("q6.10")


def results(function: Any, **arrays: Any) -> list[Any]:
    shapes = {name: np.shape(array) for name, array in arrays.items()}
    return list(evaluate(trace(function, shapes), arrays).values())


def test_an_index_with_the_name_of_a_tensor() -> None:
    """In a text of a kernel a name is one of both, so the index has another name there."""

    def clash(x: Any, i0: Any) -> Any:
        (i,) = TensorIndexes(1)
        T = TensorOutput(4)
        T[i] += x[i] * i0[()]
        total = TensorOutput()
        total[()] += T[i]
        return T + i0, total

    one, two = results(clash, x=X, i0=np.array(2.0))
    np.testing.assert_array_equal(one, 2 * X + 2)
    assert two == 2 * X.sum()
    program = trace(clash, {"x": (4,), "i0": ()})
    assert "i0' in 0:4" in kernel_text(translated(program, name="k").kernel)


def test_a_parameter_and_a_number_as_results() -> None:
    def returned(x: Any) -> Any:
        return x, tile.ident(2.5), x

    one, two, three = results(returned, x=X)
    np.testing.assert_array_equal(one, X)
    np.testing.assert_array_equal(three, X)
    assert two == 2.5


@pytest.mark.parametrize("right", [False, True])
def test_a_deep_expression(right: bool) -> None:
    def deep(x: Any) -> Any:
        value = x
        for _ in range(1500):
            value = 1.0 - value if right else value * 0.5 + 1.0
        return value

    np.testing.assert_allclose(results(deep, x=X)[0], X if right else np.full(4, 2.0), rtol=1e-12)


def test_constants_that_are_used_twice() -> None:
    """Each is computed once: without that this would be 2^200 products."""

    def doubled(x: Any) -> Any:
        half = tile.ident(0.5)
        for _ in range(200):
            half = half + half - half
        return x * half

    np.testing.assert_array_equal(results(doubled, x=X)[0], X / 2)


def test_elements_around_what_a_statement_writes_are_0() -> None:
    """The kernel writes them, because another statement reads them."""

    def apart(x: Any) -> Any:
        (i,) = TensorIndexes(1)
        T, U = TensorOutput(10), TensorOutput(10)
        T[2 * i + 2] = x[i]
        U[i + 3] = x[i]
        return T + U + 1.0

    expected = np.ones(10)
    expected[2:9:2] += X
    expected[3:7] += X
    np.testing.assert_array_equal(results(apart, x=X)[0], expected)


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_the_printed_kernel_has_the_words_of_the_function(name: str) -> None:
    """Integers alone differ: a kernel counts them, and those of Tile are real numbers."""
    program = traced(name)
    made = translated(program, name="k")
    if any(tensor.type != "real" for tensor in made.kernel.tensors.values()):
        pytest.skip("it has integers or truth values")
    text = Source.from_text(kernel_text(made.kernel), "k.kernel")
    printed, own = lower_kernel(parse(text, "k"), number_format=FORMAT), lower(program, number_format=FORMAT)
    arrays = {
        name: np.floor(array * FORMAT.one + 0.5).astype(np.int64) for name, array in REFERENCES[name].draw(6).items()
    }
    found = evaluate_fixed(printed, FORMAT, {made.parameters[name]: words for name, words in arrays.items()}).values
    wanted = evaluate_fixed(own, FORMAT, arrays).values
    tensors = dict(printed.results)
    for shown, tensor in own.results:
        np.testing.assert_array_equal(found[tensors[made.results[shown]]], wanted[tensor])


def summed(x: Any, w: Any) -> Any:
    """A window that ends at the borders."""
    i, k = TensorIndexes(2)
    total = TensorOutput(4)
    total[i] += x[i + k - 1] * w[k]
    return total


def test_a_mean_is_one_statement() -> None:
    """The sum is not rounded before it is divided, unless somebody sees it."""

    def mean(x: Any, w: Any) -> Any:
        return summed(x, w) / 3.0 + x

    program = trace(mean, {"x": (4,), "w": (3,)})
    assert [each.target for each in translated(program, name="k").kernel.statements] == ["total", "out0"]
    seen = translated(program, name="k", results=["total"])
    assert [each.target for each in seen.kernel.statements] == ["total", "out0"]
    assert "total" in seen.results
    graph = lower(program, number_format=FORMAT)
    ((first, _), targets) = graph.statements[:2], [each.target for each in graph.statements]
    assert first.constraints and first.reduced and set(targets) >= {"total", "out0"}


def test_integers_may_be_labels() -> None:
    def learns(x: Any, y: Any, w: Any) -> Any:
        tile.update(w, (x * w - y) * x, 0.5)

    program = trace(learns, {"x": (4,), "y": (4,), "w": (4,)}, {}, {"y": "integer"})
    graph = lower(program, number_format=FORMAT)
    assert {name: graph.tensors[name].role for name in "xyw"} == {"x": "label", "y": "label", "w": "model"}


def test_weights_learn_in_another_shape() -> None:
    """The gradient is a product whose elements are written by sums of indices."""

    def learns(x: Any, y: Any, w: Any) -> Any:
        i, j = TensorIndexes(2)
        flat = tile.reshape(w, (6, 2))
        found = TensorOutput(2)
        found[j] += x[i] * flat[i, j]
        loss, squares = TensorOutput(), (found - y) * (found - y)
        loss[()] += squares[j]
        (by_weights,) = tile.gradient(loss, [w])
        tile.update(w, by_weights, 0.25)

    program = trace(learns, {"x": (6,), "y": (2,), "w": (3, 4)})
    graph = lower(program, number_format=FORMAT)
    verify(graph)
    chance = np.random.default_rng(3)
    arrays = {name: chance.integers(-8, 9, graph.tensors[name].shape) / 16 for name in "xyw"}
    expected = evaluate(program, arrays)["w"]
    words = {name: np.round(array * FORMAT.one).astype(np.int64) for name, array in arrays.items()}
    models = {"w": words.pop("w")}
    after = evaluate_fixed(graph, FORMAT, words, models).models["w"]
    np.testing.assert_allclose(after / FORMAT.one, expected, atol=4 / FORMAT.one)

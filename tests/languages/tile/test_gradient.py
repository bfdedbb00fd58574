"""Gradients against finite differences, for every program that has a gradient at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.languages.tile import load, trace
from tabla.languages.tile.tensors import Tensor, TensorOutput
from tabla.tile import TensorIndexes, gradient
from tests.languages.tile.meaning import evaluate
from tests.languages.tile.references import PROGRAMS, REFERENCES

# Whole numbers and jumps have no slope; of these the notation has no derivative, and says so.
FLAT = {"reductions:argmax_by_cond", "reductions:count_of_maxima", "layers:comparisons"}
REFUSED = {"reductions:tropical_matmul", "reductions:shortest_paths", "reductions:widest_product",
           "reductions:viterbi_step", "reductions:irregular_maxima", "reductions:product_of_pairs"}  # fmt: skip
STEP = 1e-6


def loss_of(name: str) -> Any:
    """A function that weights and sums up every output of a program, and its gradients after every input."""
    file, _, function = name.partition(":")
    inner, shapes = load(PROGRAMS / f"{file}.py", function), REFERENCES[name].shapes

    def outer(*tensors: Tensor) -> list[Tensor]:
        found = inner(**dict(zip(shapes, tensors, strict=True)), **REFERENCES[name].arguments)
        loss: Any = 0.0
        for number, output in enumerate(found if isinstance(found, tuple) else (found,)):
            indices = TensorIndexes(len(output.shape))
            total = TensorOutput()
            weighted = output * output * 0.5 + output * (number + 0.25)
            total[()] += weighted[tuple(indices)]
            loss = loss + total
        return [loss, *gradient(loss, list(tensors))]

    text = f"lambda {', '.join(shapes)}: outer({', '.join(shapes)})"
    return eval(text, {"outer": outer})


@pytest.mark.parametrize("name", sorted(REFERENCES.keys() - FLAT - REFUSED))
def test_a_gradient_is_the_slope(name: str) -> None:
    reference = REFERENCES[name]
    program = trace(loss_of(name), reference.shapes)
    arrays = reference.draw(11)
    found = evaluate(program, arrays)
    for number, (parameter, array) in enumerate(arrays.items()):
        slope = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            ends = []
            for step in (STEP, -STEP):
                moved = array.copy()
                moved[place] += step
                ends.append(float(evaluate(program, {**arrays, parameter: moved})["out0"]))
            slope[place] = (ends[0] - ends[1]) / (2 * STEP)
        np.testing.assert_allclose(found[f"out{number + 1}"], slope, rtol=1e-4, atol=1e-5, err_msg=parameter)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_has_no_derivative_says_so(name: str) -> None:
    with pytest.raises(TablaError, match="there is no derivative of") as caught:
        trace(loss_of(name), REFERENCES[name].shapes)
    assert caught.value.file is not None and caught.value.file.endswith(f"{name.partition(':')[0]}.py")


@pytest.mark.parametrize("name", sorted(FLAT))
def test_what_is_flat_has_none(name: str) -> None:
    arrays = REFERENCES[name].draw(1)
    found = evaluate(trace(loss_of(name), REFERENCES[name].shapes), arrays)
    assert all(not found[f"out{n + 1}"].any() for n in range(len(arrays)))


def test_a_loss_of_one_element() -> None:
    """Its own subscript bounds an index that the gradient reads no more."""

    def function(A: Tensor, B: Tensor) -> list[Tensor]:
        i, j = TensorIndexes(2)
        loss = TensorOutput(1)
        loss[i] += A[j - i] * B[j]
        return gradient(loss, [A, B])

    arrays = {"A": np.array([1.0, 2.0, 3.0]), "B": np.array([4.0, 5.0])}
    found = evaluate(trace(function, {"A": (3,), "B": (2,)}), arrays)
    np.testing.assert_array_equal(found["out0"], [4, 5, 0])
    np.testing.assert_array_equal(found["out1"], [1, 2])

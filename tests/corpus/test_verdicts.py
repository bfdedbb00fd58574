"""Kernels that are refused, after the tests of faults of both languages' public projects, each with its message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tabla.base.source import Source, TablaError
from tabla.graph.format import Format
from tabla.languages.tc import infer, parse
from tabla.languages.tile import trace
from tabla.languages.tile.lower import lower
from tabla.tile import *

REFUSED = {
    "an undefined tensor": ("(float(N) A) -> (B) { B(i) = C(i) }", "there is no tensor or function 'C'"),
    "a missing index": ("(float(N,M) A) -> (B) { B(i) = A(i) }", "'A' has 2 dimensions, found 1 subscript"),
    "an index too many": ("(float(N) A) -> (B) { B(i) = A(i, 0) }", "'A' has 1 dimension, found 2 subscripts"),
    "a sum without an operator": ("(float(N,M) A) -> (B) { B(i) = A(i, j) }", "'=' does not reduce"),
    "an assigned input": ("(float(N) A) -> (B) { A(i) = 1.0 * A(i) B(i) = A(i) }", "'A' is an input and cannot be ass"),
    "a result that nobody defines": ("(float(N) A) -> (B, C) { B(i) = A(i) }", "'C' is returned but never defined"),
    "an index twice": ("(float(N,N) A) -> (B) { B(i, i) = A(i, i) }", "'i' is already defined"),
    "an index without a range": ("(float(N) A) -> (B) { B(i, j) = A(i) }", "cannot infer the range of 'j'"),
    "an empty range": ("(float(N) A) -> (B) { B(i) = A(i) where i in 3:3 }", "the range of 'i' is empty"),
    "a read before the start": ("(float(N) A) -> (B) { B(i) = A(i - 1) where i in 0:N }", "0 <= -1 does not hold"),
    "a read past the end": ("(float(N) A) -> (B) { B(i) = A(i + 1) where i in 0:N }", "N+1 <= N does not hold"),
    "a real as a position": ("(float(N) A, float(N) I) -> (B) { B(i) = A(I(i)) }", "an integer is expected"),
    "a real as a condition": ("(float(N) A) -> (B) { B(i) = A(i) ? 1.0 : 0.0 }", "a boolean is expected"),
    "an arity": ("(float(N) A) -> (B) { B(i) = pow(A(i)) }", "'pow' takes 2"),
    "a tensor as a number": ("(float(N) A) -> (B) { B(i) = A where i in 0:N }", "'A' has 1 dimension"),
    "a narrower result": ("(double(N) A) -> (float(N) B) { B(i) = A(i) }", "'B' holds float32, this value is float64"),
    "a range of data": ("(float(N) A, int32 n) -> (B) { B(i) = A(i) where i in 0:n }", "cannot depend on the values"),
    "a subtraction in place": ("(float(N) A) -> (B) { B(i) -= A(i) }", "expected '=' or a reduction"),
    "a name of a function": ("(float(N) exp) -> (B) { B(i) = exp(i) }", "'exp' is a built-in function"),
    "a half-written annotation": ("(float(N) A) -> (B) { B(i) = A(i) <=> }", "expected a name, not '}'"),
    "sizes that do not go together": (
        "(float(N) A, float(M) B) -> (C) { C(i) = A(i) + B(i + 3) where i in 0:N }",
        "7 <= 3 does not hold",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_kernel_is_refused(name: str) -> None:
    body, message = REFUSED[name]
    with pytest.raises(TablaError) as caught:
        infer(parse(Source.from_text(f"def f{body}", "k.tc")).function(), {"N": 4, "M": 3})
    assert message in str(caught.value) and caught.value.hint and caught.value.line == 1


def wrong_rank(A: Any) -> Any:
    N, M = TensorDims(2)
    i, j = TensorIndexes(2)
    A.bind_dims(N, M)
    O = TensorOutput()
    O[i] += A[i, j]
    return O


def twice(A: Any) -> Any:
    N, M = TensorDims(2)
    i, j = TensorIndexes(2)
    A.bind_dims(N, M)
    O = TensorOutput(N)
    O[i] = A[i, j]
    return O


def three_tensors(A: Any) -> Any:
    i, j = TensorIndexes(2)
    O = TensorOutput()
    O[()] += A[i, j] * A[i, j] * A[i, j]
    return O


def unequal_sizes(A: Any) -> Any:
    N = TensorDim()
    A.bind_dims(N, N)
    return A


def unbounded(A: Any) -> Any:
    i, j, k = TensorIndexes(3)
    O = TensorOutput(3)
    O[i] += A[i, j - k]
    return O


def shapes_apart(A: Any) -> Any:
    return A + index([5], 0)


TILE_REFUSED: dict[Callable[..., Any], str] = {
    wrong_rank: "'O' has 0 dimensions and 1 subscripts",
    twice: "is assigned more than once",
    three_tensors: "at most two tensors",
    unequal_sizes: "is 4, but",
    unbounded: "nothing bounds the index variable",
    shapes_apart: "do not broadcast",
}


@pytest.mark.parametrize("function", TILE_REFUSED, ids=lambda function: function.__name__)
def test_a_tile_function_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(TablaError) as caught:
        lower(trace(function, {"A": (3, 4)}, {}), number_format=Format.parse("q6.10"))
    assert TILE_REFUSED[function] in str(caught.value) and caught.value.hint and caught.value.line

"""Guarded reads in graphs and on the machine: Python at every point, evaluation in words, and the cycle model agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.build.options import Options
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.pipeline import run_passes
from tabla.graph.text import statement_text
from tabla.graph.verify import verify
from tabla.languages.tc import Function, parse
from tabla.languages.tc.bind import bind_sizes
from tabla.languages.tc.lower import lower
from tests.draws import draws
from tests.languages.tc.guarded_kernels import Kernel, drawn, kernels, points
from tests.languages.tc.lower.test_programs import words_of
from tests.schedule.agreement import agree

Q12_20 = Format(integer=12, fraction=20)
Q6_10 = Format(integer=6, fraction=10)
HEAD = "def f(float(N) A, float(M) W, float(N,M) T, int32(N) I) -> (B)"


def lowered(text: str, inputs: dict[str, Any], number: Format) -> tuple[Function, Graph]:
    function = parse(Source.from_text(text)).function()
    sizes = bind_sizes(function, {name: array.shape for name, array in inputs.items()})
    graph = lower(function, sizes, number_format=number)
    verify(graph)
    return function, graph


def words(text: str, inputs: dict[str, Any], number: Format) -> Any:
    function, graph = lowered(text, inputs, number)
    return evaluate_fixed(graph, number, words_of(function, inputs, number)).values[graph.results[0][1]]


@draws(50, 120)
@given(kernels(), st.integers(2, 4), st.integers(2, 3), st.integers(0, 2**20))
def test_random_kernels(kernel: Kernel, n: int, m: int, seed: int) -> None:
    inputs = drawn(n, m, seed)
    try:
        expected = points(kernel, inputs)
    except IndexError:
        with pytest.raises(TablaError):
            words(kernel.text, inputs, Q12_20)
        return
    try:
        function, graph = lowered(kernel.text, inputs, Q12_20)
    except TablaError as fault:
        event(f"refused: {fault.message}")
        assert "is read at" not in fault.message or kernel.value.data, fault
        return
    event("lowered")
    fixed = evaluate_fixed(graph, Q12_20, words_of(function, inputs, Q12_20)).values[graph.results[0][1]]
    np.testing.assert_allclose(fixed / Q12_20.one, np.clip(expected, -2048, 2048), rtol=1e-4, atol=1e-4)
    if seed % 4:
        return
    smaller = run_passes(lowered(kernel.text, inputs, Q6_10)[1], Q6_10)
    integers = {"I": np.stack([inputs["I"]] * 2)}
    agree(smaller, Options(pes=3).chosen_template(), Q6_10, samples=2, given=integers)


def statements(body: str, sizes: dict[str, int]) -> list[str]:
    """The statements of a kernel's graph."""
    function = parse(Source.from_text(f"{HEAD} {{ {body} }}")).function()
    graph = lower(function, sizes | {"M": 3}, number_format=Q6_10)
    verify(graph)
    return [statement_text(statement) for statement in graph.statements]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # Zeros are what no statement writes.
        ("B(i) = i >= 1 ? A(i-1) : 0.0 where i in 0:N", ["B[i] = A[i-1]   for i in [1, 4)"]),
        ("B(i) = i < 1 ? 0.0 : A(i-1) where i in 0:N", ["B[i] = A[i-1]   for i in [1, 4)"]),
        ("B(i) = i >= 1 ? (i <= N ? A(i-1) : 0.0) : 0.0 where i in 0:N+2", ["B[i] = A[i-1]   for i in [1, 5)"]),
        # Each value has its own part of the range.
        ("B(i) = i >= 1 && i <= N ? A(i-1) : 0.5 where i in 0:N+2",
         ["B[i] = A[i-1]   for i in [1, 5)", "B[i] = 0.5   for i in [0, 1)", "B[i] = 0.5   for i in [5, 6)"]),
        ("B(i,j) = i >= j ? A(i-j) : W(j) where i in 0:N",
         ["B[i][j] = A[i-j]   for i in [0, 4), j in [0, 3) where i-j >= 0",
          "B[i][j] = W[j]   for i in [0, 4), j in [0, 3) where -i+j-1 >= 0"]),
        # Points that add nothing are left out of the sum.
        ("B(i) +=! i+k < 1 || i+k > N ? 0.0 : A(i+k-1) * W(k) where i in 0:N",
         ["B[i] = sum[k](A[i+k-1]*W[k])   for i in [0, 4), k in [0, 3) where i+k-1 >= 0, -i-k+4 >= 0"]),
        # A choice inside an expression: the tensor is padded by as much as is read.
        ("B(i) = A(i) + (i >= 1 ? A(i-1) : 0) + (i < N-2 ? A(i+2) : 2) where i in 0:N",
         ["A.padded[axis0] = A[axis0-1]   for axis0 in [1, 5)", "B.t1[i] = <i> >= 1   for i in [0, 4)",
          "B.t2[i] = <i> < 2   for i in [0, 4)",
          "B[i] = A[i] + B.t1[i]*A.padded[i] + B.t2[i]*A.padded[i+3] - B.t2[i]*2 + 2   for i in [0, 4)"]),
        # A position counts where the condition holds, and is 0 elsewhere.
        ("B(i) = I(i) >= 0 ? A(I(i)) : 0.5",
         ["B.t1[i] = I[i] >= 0   for i in [0, 4)", "B.t2[i] = B.t1[i]*I[i]   for i in [0, 4)",
          "B.t3[i] = I[i] >= 0   for i in [0, 4)", "B.t4[i] = A[B.t2[i]]   for i in [0, 4)",
          "B[i] = B.t3[i]*B.t4[i] - B.t3[i]*0.5 + 0.5   for i in [0, 4)"]),
    ],
)  # fmt: skip
def test_what_guarded_reads_become(body: str, expected: list[str]) -> None:
    assert statements(body, {"N": 4}) == expected


@pytest.mark.parametrize(("other", "filled"), [("0.0", True), ("0.5", False)])
def test_pieces_fill_their_tensor(other: str, filled: bool) -> None:
    function = parse(Source.from_text(f"{HEAD} {{ B(i) = i >= 1 ? A(i-1) : {other} where i in 0:N }}")).function()
    assert lower(function, {"N": 4, "M": 3}, number_format=Q6_10).tensors["B"].filled == filled


def test_choices_that_need_no_guard_stay() -> None:
    """Both values are computed, as they were before reads could be guarded."""
    assert statements("B(i) = i >= 1 ? A(i) : 0.5", {"N": 4}) == [
        "B.t1[i] = <i> >= 1   for i in [0, 4)",
        "B[i] = B.t1[i]*A[i] - B.t1[i]*0.5 + 0.5   for i in [0, 4)",
    ]


def test_a_copy_that_would_be_too_large_is_a_gather() -> None:
    near, far = (statements(f"B(i) = W(0) * (i < 2 ? A({step}*i) : 0.5) where i in 0:N", {"N": 12}) for step in (3, 11))
    assert any("axis0" in line for line in near) and not any("axis0" in line for line in far)
    assert any(line.startswith("B.t4[i] = A[B.t2[i]]") for line in far)


@pytest.mark.parametrize(
    ("body", "at", "message"),
    [
        ("B(i) = I(i) < 4 ? A(I(i)) : 0.0", [0, 3, -1, 9], "'A' is read at position -1 on axis 0, which has 4"),
        ("B(i) = i >= 1 ? A(I(i)) : 0.0", [9, 3, 4, 0], "'I' gives position 4 on axis 0 of 'A', which has 4"),
        ("B(i) = A(I(i))", [0, 1, 9, 2], "'I' gives position 9 on axis 0 of 'A', which has 4"),
    ],
)
def test_positions_that_no_condition_leaves_out(body: str, at: list[int], message: str) -> None:
    inputs = {"A": np.arange(4) / 4, "W": np.ones(3), "T": np.ones((4, 3)), "I": np.array(at)}
    with pytest.raises(TablaError) as caught:
        words(f"{HEAD} {{ {body} }}", inputs, Q6_10)
    assert message in caught.value.message and "under a condition" in (caught.value.hint or "")


def test_points_that_only_a_sum_excludes() -> None:
    """No output takes the last position, so it may be anything."""
    inputs = {"A": np.arange(4) / 4, "W": np.ones(3), "T": np.ones((4, 3)), "I": np.array([1, 2, 3, 900])}
    found = words(f"{HEAD} {{ B(i) +=! k < i ? A(I(k)) : 0.0 where i in 0:N, k in 0:N }}", inputs, Q6_10)
    np.testing.assert_array_equal(found, [0, 256, 768, 1536])


def test_a_remainder_that_no_summed_point_has() -> None:
    """No point of the sum has i + 1 a multiple of 3."""
    inputs = {"A": np.arange(4) / 4, "W": np.ones(3), "T": np.ones((4, 3)), "I": np.array([0, 0, 0, 0])}
    text = HEAD + " { B(j) +=! ((i + 1) % 3 == 0) ? A(i) : 0.5 where i in 0:1, j in 0:2 }"
    assert words(text, inputs, Q6_10).tolist() == [512, 512]


@pytest.mark.parametrize("given", ["float(N) A", "float(N) A, int32(N) I"])
@pytest.mark.parametrize("operator", ["=", "+=!", "*=!"])
def test_a_condition_that_never_holds_leaves_zeros(given: str, operator: str) -> None:
    """A result that no point writes has a statement."""
    index = " + A(I(0)) * 0.0" if "I" in given else ""
    text = f"def f({given}) -> (B) {{ B(i) {operator} (i > 1 && i < 1) ? A(i){index} : 0.0 }}"
    inputs = {"A": np.ones(3), **({"I": np.zeros(3, dtype=np.int64)} if "I" in given else {})}
    function, graph = lowered(text, inputs, Q6_10)
    fixed = evaluate_fixed(graph, Q6_10, words_of(function, inputs, Q6_10)).values[dict(graph.results)["B"]]
    assert not fixed.any()
    integers = {name: np.stack([array] * 2) for name, array in inputs.items() if name == "I"}
    agree(run_passes(graph, Q6_10), Options(pes=3).chosen_template(), Q6_10, samples=2, given=integers)

"""Guarded reads in graphs and on the machine: Python at every point, evaluation in words, and the cycle model agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tabla.ir.evaluate import evaluate_fixed
from tabla.ir.format import Format
from tabla.ir.graph import Graph
from tabla.ir.verify import verify
from tabla.lang.tc import Function, parse
from tabla.lang.tc.bind import bind_sizes
from tabla.lower.tc import lower
from tabla.options import Options
from tabla.passes.pipeline import run_passes
from tabla.source import Source, TablaError
from tests.lang.tc.guarded_kernels import Kernel, drawn, kernels, points
from tests.lower.tc.test_programs import words_of
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


@settings(max_examples=120, deadline=None)
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

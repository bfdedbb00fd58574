"""The published problems at full size: words are as evaluated, cycles as predicted, and memories within limits."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import pytest

from benchmarks.learning.aims import MICROCODE_WORDS
from benchmarks.learning.problems import PES, Problem, problems
from tabla.graph.graph import Graph
from tests.benchmarks.at_size import hold
from tests.end_to_end.algorithms import need

# The cycle model takes seconds for each of these problems.
LARGE = {"reco 2113x10197x20", "backprop 351-1000-40", "backprop 784-784-10"}
# Problems of which the quick tests run one number of PEs, because the search for a mapping takes long.
ONE_NUMBER = {
    "reco 138x130x10": 16,
    "reco 1682x943x10": 128,
    "backprop 8-16-3": 16,
}
# The quick tests compare the words at the other numbers of PEs, and tests/benchmarks/test_page.py compares the
# cycles at 64 PEs with those of the page.
BETWEEN = {64}
# The search for a mapping takes more than ten seconds at each number of PEs.
LONG = {"backprop 16-32-3", "backprop 61-128-4", "backprop 64-128-10"}
RTL = [p for p in problems() if p.name not in LARGE and max(p.sizes) <= 200]


def cases() -> Iterator[object]:
    for problem in problems():
        for pes in PES:
            slow = problem.name in LARGE | LONG or pes in BETWEEN or pes != ONE_NUMBER.get(problem.name, pes)
            marks = [pytest.mark.slow] if slow else []
            yield pytest.param(problem, pes, id=f"{problem.name}-{pes}", marks=marks)


def rtl_cases() -> Iterator[object]:
    for problem in RTL:
        for pes in PES:
            yield pytest.param(problem, pes, id=f"{problem.name}-{pes}")


@pytest.mark.parametrize(("problem", "pes"), list(cases()))
def test_cycle_model(problem: Problem, pes: int) -> None:
    made = hold(problem, pes)
    assert made.report().microcode_words <= MICROCODE_WORDS
    assert made.schedule.model_words <= 2 * spread_words(made.graph, pes)


def spread_words(graph: Graph, pes: int) -> int:
    """Return the words per PE of all models, if each model is spread over the PEs along its longest axis."""
    shapes = [tensor.shape for tensor in graph.tensors.values() if tensor.role == "model"]
    return sum(prod(shape) // max(shape) * -(-max(shape) // pes) for shape in shapes)


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "pes"), list(rtl_cases()))
def test_verilog(problem: Problem, pes: int) -> None:
    need("verilator")
    hold(problem, pes, "verilator")


@pytest.mark.slow
def test_verilog_where_lanes_take_words_as_they_are_made() -> None:
    """A root writes each hidden error and sends it to the lanes, which multiply it in the cycle in which it arrives."""
    need("cxxrtl")
    made = hold(Problem(kind="backprop", sizes=(24, 8, 8)), 8, "cxxrtl")
    assert any(fit.as_made for fit in made.schedule.mapping.fits)

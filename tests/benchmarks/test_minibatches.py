"""Steps of many samples: words are as evaluated, cycles as predicted, and the page shows them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.learning.problems import Problem, minibatches
from tabla.schedule.bound import full
from tests.benchmarks.at_size import hold
from tests.benchmarks.test_page import PAGE, table
from tests.benchmarks.test_random_shapes import shapes

QUICK = {"linear 55, minibatch 64"}


def cases() -> Iterator[object]:
    for problem, pes in minibatches():
        marks = [] if problem.name in QUICK else [pytest.mark.slow]
        yield pytest.param(problem, pes, id=f"{problem.name}-{pes}", marks=marks)


@pytest.mark.parametrize(("problem", "pes"), list(cases()))
def test_rows_of_the_page(problem: Problem, pes: int) -> None:
    head, lines = table(PAGE)
    rows = {(row[head.index("program")], row[head.index("PEs")]): row for row in lines}
    made = hold(problem, pes, steps=2)
    schedule = made.schedule
    bound = full(made.graph, schedule.template, made.format)
    row = rows[problem.name, str(pes)]
    said = [float(row[head.index(name)].split()[0].replace(",", "")) for name in ("cycles", "bound")]
    assert said == [schedule.per_sample(schedule.cycles), schedule.per_sample(bound.cycles)]


def test_samples_lie_in_the_lanes_of_a_small_network() -> None:
    """Every lane keeps a copy of the output weights, whose gradients the tree sums over all samples of the step."""
    made = hold(Problem(kind="backprop", sizes=(3, 4, 2), minibatch=8), 8, steps=2)
    mapping = made.schedule.mapping
    assert mapping.kept and any((fit.way, fit.index) == ("tree", "sample.") for fit in mapping.fits)


@pytest.mark.slow
def test_rows_that_are_not_whole_come_as_they_are_made() -> None:
    """22 hidden units fill five rows of four lanes and half a row, so each of 8 samples has two strands of its own."""
    made = hold(Problem(kind="backprop", sizes=(12, 22, 3), minibatch=8), 4, steps=2)
    strands = [s for s in made.schedule.units["lane_write"] if s.comment == "h to lane[1]"]
    assert len(strands) == 16 and made.schedule.cycles == 1825


@pytest.mark.slow
@pytest.mark.timeout(3000)
@settings(max_examples=60)
@given(shapes(), st.integers(16, 128), st.sampled_from([8, 16, 32, 64, 128]), st.integers(0, 2**20))
def test_random_shapes(problem: Problem, samples: int, pes: int, seed: int) -> None:
    sizes = tuple(min(size, 40) for size in problem.sizes)
    hold(Problem(kind=problem.kind, sizes=sizes, minibatch=samples), pes, seed=seed, steps=2)

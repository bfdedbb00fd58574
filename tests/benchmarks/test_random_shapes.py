"""The five programs at random shapes, such as odd and prime sizes, and sizes below the number of PEs.

Words must be as evaluated, and cycles not below the bound. If rows do not fill the lanes, the report must name the
statement that wastes the most slots.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.learning.problems import NAMES, Problem
from tabla.driver import build
from tabla.schedule.bound import full
from tests.benchmarks.at_size import hold
from tests.draws import draws

ODD = st.integers(1, 150).filter(lambda n: n % 2)
PRIMES = st.sampled_from([2, 3, 5, 7, 11, 13, 17, 31, 61, 67, 97, 127, 131, 257])
SMALL = st.integers(1, 12)
FEATURES = st.one_of(ODD, PRIMES, st.integers(1, 1500))


@st.composite
def shapes(draw: st.DrawFn) -> Problem:
    """Draw a program and its sizes. Networks are small enough for a quick simulation."""
    kind = draw(st.sampled_from(sorted(NAMES)))
    match kind:
        case "reco":
            sizes = (draw(ODD | PRIMES), draw(ODD | PRIMES), draw(SMALL))
        case "backprop":
            sizes = (draw(ODD | PRIMES), draw(st.integers(1, 70)), draw(SMALL))
        case _:
            sizes = (draw(FEATURES),)
    return Problem(kind=kind, sizes=sizes, minibatch=draw(st.sampled_from([1, 1, 1, 2, 3])))


PES = st.sampled_from([1, 2, 3, 5, 8, 16, 32, 64, 100, 128])


def exact(problem: Problem, pes: int, seed: int) -> None:
    """Check words, cycles and bound with `hold`, and that the report names the most wasteful statement."""
    report = hold(problem, pes, seed=seed).report()
    if any(cost.unfilled for cost in report.costs.statements):
        worst = report.costs.most_wasteful
        assert worst is not None and worst.wasted
        where = worst.text if worst.line is None else f"line {worst.line}"
        assert f"{where} wastes the most" in report.text()


@draws(2, 10)
@given(shapes(), PES, st.integers(0, 2**20))
def test_random_shapes(problem: Problem, pes: int, seed: int) -> None:
    exact(problem, pes, seed)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@settings(max_examples=400)
@given(shapes(), PES, st.integers(0, 2**20))
def test_many_random_shapes(problem: Problem, pes: int, seed: int) -> None:
    exact(problem, pes, seed)


# The largest accepted ratio of cycles to the bound where rows fill the lanes. All 24 shapes of each kind reached it.
RATIO = 1.25
SHAPES = 3
# Small shapes that once had the largest ratios, each with its number of PEs.
FARTHEST = {"reco": ((16, 16, 8), 4), "backprop": ((8, 16, 9), 8)}
# Networks that were drawn with as many classes as lanes, or twice as many, each with its number of PEs. The first one
# has the largest ratio, and tests/schedule/mapping/test_improve.py says what its search needs.
MANY_CLASSES = (
    ((16, 32, 16), 16),
    ((16, 24, 8), 8),
    ((8, 24, 16), 8),
    ((64, 32, 32), 32),
    ((24, 8, 8), 8),
    ((8, 16, 9), 8),
    ((48, 16, 32), 16),
    ((32, 64, 32), 32),
    ((8, 12, 4), 4),
    ((32, 48, 16), 16),
    ((48, 48, 16), 16),
    ((64, 64, 128), 64),
    ((32, 64, 64), 32),
    ((4, 8, 4), 4),
    ((32, 96, 64), 32),
    ((64, 128, 128), 64),
)


def filled(kind: str, chance: Random) -> tuple[Problem, int]:
    """Draw a shape whose rows fill all lanes, because the spread axes are multiples of the number of PEs."""
    pes = chance.choice([4, 8, 16, 32, 64, 128])

    def rows(most: int) -> int:
        return pes * chance.randint(1, most)

    match kind:
        case "reco":
            sizes: tuple[int, ...] = (rows(4), rows(4), chance.randint(4, 24))
        case "backprop":
            sizes = (rows(2), rows(2), chance.randint(2, 12))
        case _:
            sizes = (rows(30),)
    return Problem(kind=kind, sizes=sizes), pes


def ratio(problem: Problem, pes: int) -> tuple[float, str]:
    """Return the ratio of the cycles to the full bound, with a text that describes it."""
    made = build(problem.file, problem.options(pes))
    schedule = made.schedule
    bound = full(made.graph, schedule.template, made.format)
    found = schedule.cycles / bound.cycles
    assert found >= 1
    return found, f"{problem.name} at {pes} PEs: {schedule.cycles} cycles, {bound.cycles} by {bound.binding}"


# The shapes of a network take half a minute, those of a recommender half of that, those of the others a second.
@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] if kind in ("backprop", "reco") else []) for kind in sorted(NAMES)],
)
def test_ratio_where_rows_fill_the_lanes(kind: str) -> None:
    chance = Random(kind)
    shapes = [filled(kind, chance) for _ in range(SHAPES)]
    if kind in FARTHEST:
        sizes, pes = FARTHEST[kind]
        shapes.append((Problem(kind=kind, sizes=sizes), pes))
    worst, which = max(ratio(problem, pes) for problem, pes in shapes)
    assert worst <= RATIO, which


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("kind", sorted(NAMES))
def test_ratio_of_many_shapes(kind: str, part: int) -> None:
    chance = Random(kind)
    shapes = [filled(kind, chance) for _ in range(24)]
    worst, which = max(ratio(*shape) for shape in shapes[part::4])
    assert worst <= RATIO, which


def ratio_with_many_classes(shape: tuple[tuple[int, ...], int]) -> None:
    sizes, pes = shape
    found, which = ratio(Problem(kind="backprop", sizes=sizes), pes)
    assert found <= RATIO, which


@pytest.mark.slow
@pytest.mark.parametrize("shape", MANY_CLASSES, ids=str)
def test_ratio_of_networks_with_as_many_classes_as_lanes(shape: tuple[tuple[int, ...], int]) -> None:
    ratio_with_many_classes(shape)

"""``atan2`` in integers, in machine code, in the cycle model and in Verilog, and its bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import tabla
from tabla.graph.compiled.plans import CompiledFixedPlan
from tabla.graph.evaluate import FixedPlan, evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.functions import apply_to_words
from tabla.graph.graph import Graph
from tests.end_to_end.algorithms import need
from tests.graph.error_bounds import error_bound
from tests.graph.runs import evaluate_float
from tests.languages.kernel.formulas import Formula

Words = NDArray[np.int64]
FORMATS = [Format.parse(text) for text in ("q6.10", "q8.16", "q7.1", "q12.20", "q3.13")]
NO_PI = Format.parse("q2.14")
ANGLE = Formula("atan2", ("a", "b"))


def graph_of(fmt: Format, count: int) -> Graph:
    return ANGLE.graph("tabla", fmt, count)


def angles(fmt: Format, y: Words, x: Words) -> Words:
    graph = graph_of(fmt, y.size)
    return evaluate_fixed(graph, fmt, {"a": y, "b": x}).values[graph.results[0][1]]


def pairs(fmt: Format) -> tuple[Words, Words]:
    """All pairs of the corners of a format, and points of every magnitude."""
    corners = [0, 1, 2, 3, fmt.one - 1, fmt.one, fmt.one + 1, fmt.highest - 1, fmt.highest]
    ends = np.array(sorted({*corners, *(-word for word in corners), fmt.lowest, fmt.lowest + 1}))
    chance = np.random.default_rng(46)
    drawn = chance.integers(fmt.lowest, fmt.highest + 1, (2, 3000)) >> chance.integers(0, fmt.width, (2, 3000))
    return np.append(np.repeat(ends, ends.size), drawn[0]), np.append(np.tile(ends, ends.size), drawn[1])


def in_integers(fmt: Format, y: int, x: int) -> int:
    """The word of an angle by Python's integers; the arc tangent of 0 to 1 alone is the function unit's."""
    short, long = sorted((abs(x), abs(y)))
    quotient = math.floor(Fraction(short * fmt.one, long) + Fraction(1, 2)) if long else 0
    angle = int(apply_to_words("atan", np.array(quotient), fmt).words)
    pi = Fraction(math.pi)  # to 2^-48: no word of these formats is so near a half
    quarter = fmt.nearest(pi / 2)
    half = fmt.nearest(pi) if fmt.holds(pi) else 2 * quarter
    if abs(y) > abs(x):
        angle = quarter - angle if x >= 0 else quarter + angle
    elif x < 0:
        angle = half - angle
    angle = fmt.saturate(angle)
    return -angle if y < 0 else angle


@pytest.mark.parametrize("fmt", [*FORMATS, NO_PI], ids=str)
def test_words_are_those_of_integers(fmt: Format) -> None:
    y, x = pairs(fmt)
    assert angles(fmt, y, x).tolist() == [in_integers(fmt, int(a), int(b)) for a, b in zip(y, x, strict=True)]


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_angles_are_near_the_real_ones(fmt: Format) -> None:
    y, x = pairs(fmt)
    off = np.abs(angles(fmt, y, x) - np.arctan2(y, x) * fmt.one)
    # Half a unit for the quotient, whose slope is at most 1, and half a unit for the quarter or half turn.
    assert off.max() <= error_bound("atan", fmt) + 1


def test_nothing_overflows_and_nothing_is_outside_the_domain() -> None:
    for fmt in FORMATS:
        y, x = pairs(fmt)
        found = evaluate_fixed(graph_of(fmt, y.size), fmt, {"a": y, "b": x})
        assert (found.counts.overflows, found.counts.domain_errors) == (0, 0), fmt


def test_angles_without_pi_saturate() -> None:
    words = angles(NO_PI, np.array([1, -1, 0]), np.array([-9000, -9000, -9000]))
    assert words.tolist() == [NO_PI.highest, -NO_PI.highest, NO_PI.highest]


@given(st.integers(-(1 << 15), (1 << 15) - 1), st.integers(-(1 << 15), (1 << 15) - 1))
@settings(max_examples=50, deadline=None)
def test_mirrored_points_have_mirrored_angles(y: int, x: int) -> None:
    fmt = FORMATS[0]
    y, x = max(y, fmt.lowest + 1), max(x, fmt.lowest + 1)
    one, below, behind = angles(fmt, np.array([y, -y, y]), np.array([x, x, -x])).tolist()
    if y:
        assert below == -one
    if abs(x) >= abs(y) and x and y > 0:
        assert one + behind == fmt.nearest(Fraction(math.pi))


@pytest.mark.parametrize("fmt", [*FORMATS, NO_PI], ids=str)
def test_machine_code_has_the_same_words(fmt: Format) -> None:
    y, x = pairs(fmt)
    graph = graph_of(fmt, y.size)
    results = [tensor for _, tensor in graph.results]
    ran = [plan.of(graph, fmt).run({"a": y[None], "b": x[None]}, results, 1) for plan in (FixedPlan, CompiledFixedPlan)]
    assert np.array_equal(ran[0].kept[results[0]], ran[1].kept[results[0]])


def test_reals_are_those_of_numpy() -> None:
    chance = np.random.default_rng(1)
    y, x = np.append(chance.normal(size=(2, 200)), [[0, 0, 3, -3, 2], [0, -2, 0, 0, 2]], axis=1)
    graph = graph_of(FORMATS[0], y.size)
    found = evaluate_float(graph, {"a": y, "b": x}).values[graph.results[0][1]]
    assert np.abs(found - np.arctan2(y, x)).max() < 1e-12


PROGRAM = """n = 6;
model_input y[n]; model x[n]; iterator i[0:n];
h[i] = atan2(y[i], x[i]);
"""


@pytest.mark.parametrize("engine", ["model", "icarus", "cxxrtl"])
def test_the_machine_has_the_same_words(engine: str, tmp_path: Path) -> None:
    if engine != "model":
        need(engine)
    (tmp_path / "angle.t").write_text(PROGRAM)
    made = tabla.compile(tmp_path / "angle.t", pes=2, results=("h",))
    inputs = {
        "y": np.array([[1, -0.5, 0, 0, 3.25, -31.5], [0, 0, -0.001, 7, -7, 31.9]]),
        "x": np.array([-0.25, -2, 0, -1, 1.5, -32]),
    }
    words = made.evaluate(inputs)["h"]
    assert np.array_equal(made.simulate(inputs, engine=engine).arrays["h"], words)
    assert np.abs(words - np.arctan2(inputs["y"], inputs["x"])).max() < 4 / made.format.one


def test_numbers_fold() -> None:
    """The angle of two numbers is the word nearest to it, in each notation."""
    fmt = FORMATS[0]
    for notation in ("tabla", "tc", "tile"):
        formula = Formula("+", ("a", Formula("atan2", (Fraction(3), Fraction(-4)))))
        graph = formula.graph(notation, fmt, 1)
        given_words = {name: np.array([0]) for name, tensor in graph.tensors.items() if tensor.role == "input"}
        (word,) = evaluate_fixed(graph, fmt, given_words).values[graph.results[0][1]]
        assert word == fmt.nearest(Fraction(math.atan2(3, -4))), notation

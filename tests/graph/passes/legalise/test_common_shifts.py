"""Products with constants share shifts where there are too many; no word changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabla.base.source import Source, TablaError
from tabla.graph.body import FEW_SHIFTS
from tabla.graph.evaluate import evaluate_fixed
from tabla.graph.format import Format
from tabla.graph.graph import Graph, Linear
from tabla.graph.passes.legalise.common_shifts import common_shifts
from tabla.graph.passes.pipeline import shaped
from tabla.graph.verify import verify
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.program.decode import decode
from tabla.program.encode import encode
from tabla.program.layout import operation_layout
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, EFFORTS
from tabla.templates.template import template_for
from tests.end_to_end.algorithms import hold_against_evaluation, need
from tests.schedule.agreement import agree

Q6_10 = Format(integer=6, fraction=10)


def scaled(divisors: list[int], fmt: Format = Q6_10) -> Graph:
    """A quotient by each divisor."""
    lines = "".join(f"y{n} = x{n} / {divisor};" for n, divisor in enumerate(divisors))
    inputs = ", ".join(f"x{n}" for n in range(len(divisors)))
    return lower(parse(Source.from_text(f"model_input {inputs}; {lines}")), number_format=fmt)


def shifts(graph: Graph) -> set[int]:
    return {s.operation.shift for s in graph.statements if isinstance(s.operation, Linear)}


def test_few_shifts_stay() -> None:
    graph = scaled([100, 1000, 10_000])
    assert shifts(graph) == {11, 14, 18} and common_shifts(graph, Q6_10) is graph


def test_the_fewest_shifts() -> None:
    """A mantissa moves by the zeros at its end, and a power of two moves the other way, too: 1/1024 is a word."""
    graph = scaled([64, 50, 100, 1024, 2048, 3000, 8192, 10_000])
    assert shifts(graph) == {6, 10, 11, 13, 16, 18}
    assert shifts(common_shifts(graph, Q6_10)) == {0, 10, 16}


@settings(max_examples=30)
@given(st.lists(st.integers(33, 40_000), min_size=5, max_size=12), st.sampled_from(["q6.10", "q5.7", "q3.13"]))
def test_no_word_changes(divisors: list[int], text: str) -> None:
    fmt = Format.parse(text)
    try:
        graph = scaled(divisors, fmt)
    except TablaError:
        return
    moved = common_shifts(graph, fmt)
    verify(moved)
    words = {f"x{n}": np.asarray(fmt.highest - 3 * n) for n in range(len(divisors))}
    before, after = (evaluate_fixed(each, fmt, words).values for each in (graph, moved))
    assert all(before[name] == after[name] for name in before)
    assert len(shifts(moved)) <= len(shifts(graph))


MANY_FORMAT = Format.parse("q2.14")


def many_shifts() -> Graph:
    """A program of five shifts that no mantissa can give up."""
    return shaped(scaled([3, 5, 10, 19, 38, 69, 129], MANY_FORMAT), MANY_FORMAT)


def test_more_shifts_than_the_smallest_array_names() -> None:
    """Operations have the upper bits of the number of a shift where a program needs more than four."""
    schedule = agree(many_shifts(), template_for(4), MANY_FORMAT)
    image = encode(schedule)
    assert len(schedule.shifts) == FEW_SHIFTS + 1 and image.parameters.far_shift_bits == 1
    bodies = [strand.body for unit in image.units for strand in decode(unit, image)]
    assert max(int(o.fields["shift"]) for body in bodies for o in body if "shift" in o.fields) == FEW_SHIFTS
    hold_against_evaluation(many_shifts(), "amaranth", 4, MANY_FORMAT, samples=2, seed=1)


def test_few_shifts_need_no_more_bits() -> None:
    schedule = agree(shaped(scaled([100, 1000, 10_000]), Q6_10), template_for(4), Q6_10)
    parameters = encode(schedule).parameters
    assert len(schedule.shifts) == FEW_SHIFTS and parameters.far_shift_bits == 0
    assert "far_shift" not in operation_layout("lane_issue", parameters).fields


@pytest.mark.slow
def test_more_shifts_in_icarus() -> None:
    need("icarus")
    hold_against_evaluation(many_shifts(), "icarus", 4, MANY_FORMAT, samples=2, seed=4)


def test_too_many_shifts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabla.program.encode.MOST_SHIFTS", 4)
    schedule = schedule_graph(many_shifts(), template_for(1), MANY_FORMAT, EFFORTS[DEFAULT_EFFORT])
    with pytest.raises(TablaError, match="need 5 shifts of sums, and the machine has 4"):
        encode(schedule)

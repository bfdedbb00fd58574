"""Parts of the checker that whole programs show only when these are large, or odd, or when they are slow."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from dataclasses import replace
from typing import Any

import pytest

import tabla.schedule.check
from tabla.graph.graph import Affine, Graph, Linear
from tabla.schedule.check import ScheduleFault, check, evaluation
from tabla.schedule.check.evaluation import Evaluation
from tabla.schedule.check.times import check_times
from tabla.schedule.check.wiring import Wiring
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.templates.template import template_for
from tests.graph.examples import Builder, at, product
from tests.schedule.kernels import constrained
from tests.schedule.planted import FAULTS, operations, with_operation
from tests.schedule.planted.changes import reading, shifted
from tests.schedule.test_planted_faults import Q6_10, right
from tests.schedule.test_wide_models import Q4_8, wide_graph

MUTABLE = {"Evaluation", "_Block", "Tally", "Expected", "Images", "Machine", "Wiring"}
"""The records that are filled while a program is checked."""


def records() -> list[type]:
    """Every record of the checker."""
    names = [name for _, name, _ in pkgutil.iter_modules(tabla.schedule.check.__path__, "tabla.schedule.check.")]
    found = [value for name in names for value in vars(importlib.import_module(name)).values()]
    own = [value for value in found if isinstance(value, type) and value.__module__ in names]
    return sorted({value for value in own if dataclasses.is_dataclass(value)}, key=lambda value: value.__name__)


def test_records_are_changed_and_compared_only_where_that_means_something() -> None:
    """A misspelt attribute is refused, what two parts share is not changed by one of them, and records with arrays are
    not compared by value, which numpy refuses. A record of many arrays of one type is built by names.
    """
    assert len(records()) >= 15
    for record in records():
        settings: Any = record.__dict__["__dataclass_params__"]
        assert settings.frozen == (record.__name__ not in MUTABLE), record
        assert "__slots__" in record.__dict__, record
        assert not any("NDArray" in str(field.type) for field in dataclasses.fields(record)) or not settings.eq
        assert settings.eq == (record.__name__ == "_Evaluation"), record
    assert all(field.kw_only for field in dataclasses.fields(_record("Expected")))


def _record(name: str) -> Any:
    return next(record for record in records() if record.__name__ == name)


@pytest.mark.parametrize("most", [1, 40, 300])
def test_blocks_are_only_a_matter_of_memory(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """A large program is evaluated in blocks, which may have any size: what is right stays right."""
    monkeypatch.setattr(evaluation, "MOST_WORDS", most)
    schedule = right("triangle")
    check(schedule)
    with pytest.raises(ScheduleFault):
        check(next(iter(FAULTS[sorted(FAULTS)[0]](schedule)), replace(schedule, outputs=schedule.outputs + 1)))


def test_sums_of_many_parts_are_not_counted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting parts takes as long as adding them. Control alone shows that the sums of a layer have several."""
    own, found = Evaluation._many, dict[str, set[bool]]()

    def seen(self: Evaluation, *wanted: Any) -> bool:
        many = own(self, *wanted)
        found.setdefault(self.run.strand.unit, set()).add(many)
        return many

    monkeypatch.setattr(Evaluation, "_many", seen)
    check(right("triangle"))
    assert found == {"lane_issue": {False, True}, "root_issue": {False}}


def rest_of_a_row(size: int = 6) -> Graph:
    """Sums s[i] over j >= i: each begins later than the one before."""
    b = Builder()
    b.tensor("x", "input", size)
    b.tensor("w", "model", size)
    b.tensor("s", "value", size)
    b.let("s", "i", Linear(terms=(product(at("w", "j"), at("x", "j"), "j"),)), "j", i=size, j=size)
    return constrained(b.graph("rest", {}, (("s", "s"),)), 0, Affine.of(0, j=1, i=-1))


def test_sums_that_begin_late_are_right() -> None:
    schedule = schedule_graph(rest_of_a_row(), template_for(4), Q6_10)
    check(schedule)
    planted = 0
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        for generator in reading(operation, "model", "data", "a", "b"):
            planted += 1
            with pytest.raises(ScheduleFault):
                check(with_operation(schedule, number, slot, shifted(operation, generator, 1)))
    assert planted


@pytest.mark.parametrize("stream_words", [1, 2, 4])
def test_a_beat_of_guard_bits_follows_each_beat_of_a_wide_model(stream_words: int) -> None:
    schedule = schedule_graph(wide_graph(), replace(template_for(4), stream_words=stream_words), Q4_8, EFFORTS[0])
    assert schedule.layout.wide_memories == {"model", "root memory"}
    check(schedule)


def test_rows_that_several_strands_write_are_told_apart_by_lanes() -> None:
    """Lanes that no strand writes are seen, although other lanes of the same row are written."""
    schedule, refused = right("gathers"), 0
    check_times(schedule)
    for number, slot, _, operation in operations(schedule, "lane_write"):
        low, high = operation.addresses["low"], operation.addresses["high"]
        none = replace(high, base=low.base, strides=low.strides)
        faulty = with_operation(
            schedule, number, slot, replace(operation, addresses={**operation.addresses, "high": none})
        )
        try:
            check_times(faulty)
        except ScheduleFault as fault:
            refused += "is read where nothing was written" in str(fault)
    assert refused


def test_each_part_of_a_strand_follows_the_one_before() -> None:
    """A part that goes on with a sum goes on with that of the part before, also in the first strand of a unit."""
    schedule, unit = right("triangle"), "lane_issue"
    cuts = {(unit, place): "iterations" for place in range(len(schedule.units[unit]))}
    wiring = Wiring(schedule.units, schedule.template, schedule.format, cuts)
    own = [run for run in wiring.runs if run.unit == unit]
    assert len(own) > len(cuts) and any(run.goes_on for run in own)
    assert [run.before for run in own] == [-1, *(run.number for run in own[:-1])]

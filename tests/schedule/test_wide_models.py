"""The checker on wide models: each part of a program that says where guard bits go has to say it right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from tabla.base.source import Source
from tabla.graph.format import Format
from tabla.graph.graph import Graph
from tabla.graph.passes.model_guard import with_model_guard
from tabla.languages.tabla import parse
from tabla.languages.tabla.lower import lower
from tabla.schedule.check import ScheduleFault, check
from tabla.schedule.compile import schedule_graph
from tabla.schedule.mapping.effort import EFFORTS
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Operation, Strand
from tabla.templates.template import template_for
from tests.schedule.planted import operations, with_operation

Q4_8 = Format(integer=4, fraction=8)
# w is updated in the lanes and b at the root; both also read their own words.
PROGRAM = """
mu = 0.25; model_input x[7]; model_output y[3]; model w[3][7], b[3]; gradient gw[3][7] -> w, gb[3] -> b;
iterator i[0:7]; iterator k[0:3];
h[k] = sum[i](w[k][i] * x[i]) + b[k]; e[k] = h[k] - y[k];
gw[k][i] = e[k] * x[i] + w[k][i]; gb[k] = e[k] + b[k];
"""


def wide_graph() -> Graph:
    return with_model_guard(lower(parse(Source.from_text(PROGRAM)), number_format=Q4_8), 6, Q4_8)


@cache
def made() -> Schedule:
    schedule = schedule_graph(wide_graph(), template_for(4), Q4_8, EFFORTS[0])
    assert schedule.layout.wide_memories == {"model", "root memory"}
    return schedule


def _updates(schedule: Schedule) -> Iterator[tuple[int, int, Strand, Operation]]:
    return (found for found in operations(schedule, "lane_issue", "root_issue") if found[3].field("wide"))


def _refused(schedules: Iterator[Schedule]) -> int:
    count = 0
    for schedule in schedules:
        with pytest.raises(ScheduleFault):
            check(schedule)
        count += 1
    return count


def test_updates_say_that_they_are_wide() -> None:
    faults = (with_operation(made(), n, slot, op.with_fields(wide=0)) for n, slot, _, op in _updates(made()))
    assert _refused(faults) >= 2


def test_updates_have_the_shift_of_wide_models() -> None:
    assert made().wide_from == 1 and made().shifts == (0, -4)
    faults = (with_operation(made(), n, slot, op.with_fields(shift=0)) for n, slot, _, op in _updates(made()))
    assert _refused(faults) >= 2


def test_nothing_else_is_wide() -> None:
    found = operations(made(), "lane_issue", "root_issue")
    faults = (
        with_operation(made(), n, slot, op.with_fields(wide=1))
        for n, slot, _, op in found
        if not op.field("wide") and op.field("emit")
    )
    assert _refused(faults) >= 3


def _changed(strands: tuple[Strand, ...], number: int, body: tuple[Operation, ...]) -> tuple[Strand, ...]:
    return tuple(replace(s, body=body) if n == number else s for n, s in enumerate(strands))


def _with_body(schedule: Schedule, which: str, number: int, body: tuple[Operation, ...]) -> Schedule:
    strands = _changed(getattr(schedule, which), number, body)
    return replace(schedule, stream_load=strands) if which == "stream_load" else replace(schedule, dump=strands)


def test_a_load_puts_both_halves_where_they_belong() -> None:
    loads = [(n, s.body) for n, s in enumerate(made().stream_load) if len(s.body) == 2]
    assert len(loads) == 2
    for number, (first, second) in loads:
        bodies = [(second, first), (first, second.with_fields(wide=0)), (second, second), (second,)]
        assert _refused(_with_body(made(), "stream_load", number, body) for body in bodies) == 4


def test_a_dump_gives_all_words_and_then_their_guard_bits() -> None:
    half = len(made().dump) // 2
    for number in range(half):
        (word,), (wide,) = made().dump[number].body, made().dump[half + number].body
        for place, body in ((number, wide), (half + number, word), (half + number, wide.with_fields(wide=0))):
            assert _refused(iter([_with_body(made(), "dump", place, (body,))])) == 1


def test_another_lanes_guard_bits_do_not_go_up() -> None:
    """A wide addend counts in active lanes only: with all of them active, their words meet in the tree."""
    *_, (number, strand) = [(n, s) for n, s in enumerate(made().dump) if s.unit == "lane_issue"]
    (wide,) = strand.body
    everywhere = replace(wide.addresses["high"], base=made().template.pes, strides=(0,))
    wide = replace(wide, addresses={**wide.addresses, "high": everywhere})
    assert _refused(iter([_with_body(made(), "dump", number, (wide,))])) == 1

"""Faults of what is computed and gathered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Operation
from tabla.templates.template import functions, timing
from tests.schedule.planted.changes import (
    COMPARED,
    fault,
    fields,
    moved,
    operations,
    reading,
    rounded,
    shifted,
    true_product,
    with_operation,
    with_strand,
)

# ---- what is computed


@fault
def no_half_unit(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        shifted = schedule.format.fraction + schedule.shifts[int(operation.field("shift"))]
        if operation.field("half", "none") != "none" and rounded(operation) and shifted:
            yield with_operation(schedule, number, slot, operation.with_fields(half="none"))


@fault
def half_a_unit_twice(schedule: Schedule) -> Iterator[Schedule]:
    """At the root, of a sum of the lanes, which have added it."""
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if operation.field("base") in ("tree", "array") and operation.field("emit"):
            yield with_operation(schedule, number, slot, operation.with_fields(half="all"))


@fault
def half_a_unit_in_every_lane(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue"):
        if operation.field("half") in ("lane0", "array0") and schedule.template.lanes > 1:
            yield with_operation(schedule, number, slot, operation.with_fields(half="all"))


@fault
def half_a_unit_in_every_lane_of_a_copy(schedule: Schedule) -> Iterator[Schedule]:
    """One half would not change a word that goes up; those of all lanes do."""
    for number, slot, _, operation in operations(schedule, "lane_issue"):
        if operation.field("up") and not true_product(operation) and schedule.template.lanes > 1:
            if operation.field("post", "none") == "none":
                yield with_operation(schedule, number, slot, operation.with_fields(half="all"))


@fault
def half_a_unit_in_every_group(schedule: Schedule) -> Iterator[Schedule]:
    yield from fields(schedule, "lane_issue", "half", "array0", "lane0")


@fault
def another_shift(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if len(schedule.shifts) > 1 and rounded(operation) and operation.field("emit"):
            other = 0 if operation.field("shift") else 1
            yield with_operation(schedule, number, slot, operation.with_fields(shift=other))


@fault
def another_function(schedule: Schedule) -> Iterator[Schedule]:
    codes = {f.code: f for f in functions().values()}
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if code := operation.field("function"):
            for other in codes.values():
                if other.kind == codes[int(code)].kind and other.code != code:
                    yield with_operation(schedule, number, slot, operation.with_fields(function=other.code))


@fault
def no_function(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if operation.field("function"):
            yield with_operation(schedule, number, slot, operation.with_fields(function=0))


@fault
def another_sign(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if operation.field("a", "zero") != "zero" and operation.field("post") not in ("==", "!="):
            several = operation.field("post") != "extreme" or operation.field("base") != "zero"
            if several:
                negate = 1 - int(operation.field("negate"))
                yield with_operation(schedule, number, slot, operation.with_fields(negate=negate))


@fault
def no_addend(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if operation.field("base") == "addend":
            yield with_operation(schedule, number, slot, operation.with_fields(base="zero"))


@fault
def a_product_in_every_turn(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, strand, operation in operations(schedule, "lane_issue", "root_issue"):
        gate = int(operation.field("gate"))
        if gate and strand.iterations > 1:
            yield with_operation(schedule, number, slot, operation.with_fields(gate=0))


@fault
def a_sum_over_a_loop_less(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if strand.reduce and strand.counts[-strand.reduce] > 1:
            yield with_strand(schedule, number, replace(strand, reduce=strand.reduce - 1))


@fault
def a_sum_over_a_loop_more(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        level = len(strand.counts) - strand.reduce - 1
        fresh = strand.unit in ("lane_issue", "root_issue") and strand.body[0].field("base") != "accumulator"
        if fresh and level >= 0 and strand.counts[level] > 1:
            yield with_strand(schedule, number, replace(strand, reduce=strand.reduce + 1))


@fault
def a_sum_that_begins_anew_in_each_slot(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if slot and operation.field("base") == "accumulator":
            yield with_operation(schedule, number, slot, operation.with_fields(base="zero"))


@fault
def a_comparison_the_other_way_round(schedule: Schedule) -> Iterator[Schedule]:
    turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "!=", "!=": "=="}
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if operation.field("post") in COMPARED:
            post = turned[str(operation.field("post"))]
            yield with_operation(schedule, number, slot, operation.with_fields(post=post))


@fault
def a_comparison_that_takes_equals(schedule: Schedule) -> Iterator[Schedule]:
    other = {"<": "<=", ">": ">=", "<=": "<", ">=": ">"}
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if (post := str(operation.field("post"))) in other:
            yield with_operation(schedule, number, slot, operation.with_fields(post=other[post]))


@fault
def an_extreme_as_a_sum(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if all(o.field("post") == "extreme" for o in strand.body) and (strand.reduce or len(strand.body) > 1):
            body = tuple(o.with_fields(post="none", emit=1) for o in strand.body)
            yield with_strand(schedule, number, replace(strand, body=body))


@fault
def the_smallest_instead_of_the_largest(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if all(o.field("post") == "extreme" for o in strand.body) and strand.reduce:
            body = tuple(o.with_fields(negate=1 - int(o.field("negate"))) for o in strand.body)
            yield with_strand(schedule, number, replace(strand, body=body))


@fault
def divisor_and_dividend_exchanged(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if operation.field("function") == functions()["divide"].code and {"b", "c"} <= operation.addresses.keys():
            wrong = moved(operation, {"b": operation.addresses["c"], "c": operation.addresses["b"]})
            yield with_operation(
                schedule,
                number,
                slot,
                wrong.with_fields(b=operation.field("c"), c=operation.field("b")),
            )


@fault
def another_memory_of_the_lanes(schedule: Schedule) -> Iterator[Schedule]:
    other = {"model": "interim", "interim": "model", "data": "interim"}
    for number, slot, _, operation in operations(schedule, "lane_issue"):
        source = str(operation.field("a"))
        if source in other and operation.field("b") != source:
            addresses = dict(operation.addresses)
            addresses[other[source]] = replace(addresses.pop(source), window=False)
            if other[source] not in (operation.field("b"), operation.field("c")):
                wrong = replace(operation, addresses=addresses).with_fields(a=other[source])
                yield with_operation(schedule, number, slot, wrong)


@fault
def another_memory_of_the_root(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_issue"):
        for port in reading(operation, "a", "b", "c"):
            if operation.field(port) in ("memory", "data"):
                other = "data" if operation.field(port) == "memory" else "memory"
                address = replace(operation.addresses[port], window=other == "data")
                wrong = moved(operation, {port: address}).with_fields(**{port: other})
                yield with_operation(schedule, number, slot, wrong)


# ---- gathers


def _gathering(operation: Operation) -> bool:
    return str(operation.field("a")).startswith("gathered_")


@fault
def words_gathered_one_further(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if _gathering(operation):
            yield with_operation(schedule, number, slot, shifted(operation, "a", 1))


@fault
def words_gathered_by_no_position(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if _gathering(operation):
            plain = str(operation.field("a")).removeprefix("gathered_")
            yield with_operation(schedule, number, slot, operation.with_fields(a=plain))


@fault
def a_position_not_fetched(schedule: Schedule) -> Iterator[Schedule]:
    yield from fields(schedule, "root_issue", "b", "position", "one")


@fault
def position_of_another_row(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if operation.field("b") == "position":
            base = operation.addresses["c"].base
            step = -1 if base else 1
            yield with_operation(schedule, number, slot, shifted(operation, "c", step))


# ---- scatters


def _scattering(schedule: Schedule) -> Iterator[tuple[int, int, Operation]]:
    for number, slot, _, operation in operations(schedule, "root_write"):
        if operation.field("scattered"):
            yield number, slot, operation


@fault
def words_that_land_one_further(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, operation in _scattering(schedule):
        yield with_operation(schedule, number, slot, shifted(operation, "address", 1))


@fault
def words_that_land_at_no_position(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, operation in _scattering(schedule):
        yield with_operation(schedule, number, slot, operation.with_fields(scattered=0))


@fault
def words_that_do_not_land(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, operation in _scattering(schedule):
        yield with_operation(schedule, number, slot, operation.with_fields(to_memory=0))


@fault
def words_that_land_unmarked(schedule: Schedule) -> Iterator[Schedule]:
    """A prediction would change the model."""
    for number, slot, operation in _scattering(schedule):
        yield with_operation(schedule, number, slot, operation.with_fields(model=0))


@fault
def a_word_that_lands_is_another(schedule: Schedule) -> Iterator[Schedule]:
    """The issue of the word reads the word beside it."""
    for number, slot, _ in _scattering(schedule):
        start = schedule.strands[number].start
        for other, strand in enumerate(schedule.strands):
            if strand.unit == "root_issue" and strand.start + timing().result == start:
                yield with_operation(schedule, other, slot, shifted(strand.body[slot], "c", 1))


@fault
def words_land_before_their_position_shows(schedule: Schedule) -> Iterator[Schedule]:
    """Issue and write of a body come a cycle sooner than the position that they need."""
    for number, slot, _ in _scattering(schedule):
        strand = schedule.strands[number]
        for other, issue in enumerate(schedule.strands):
            if issue.unit == "root_issue" and issue.start + timing().result == strand.start and slot > 1:
                sooner = (*strand.body[:1], *strand.body[2:], strand.body[1])
                issued = (*issue.body[:1], *issue.body[2:], issue.body[1])
                swapped = with_strand(schedule, number, replace(strand, body=sooner))
                yield with_strand(swapped, other, replace(issue, body=issued))


@fault
def a_position_that_lands_not_fetched(schedule: Schedule) -> Iterator[Schedule]:
    scattering = {schedule.strands[number].start for number, _, _ in _scattering(schedule)}
    for number, slot, strand, operation in operations(schedule, "root_issue"):
        if operation.field("b") == "position" and strand.start + timing().result in scattering:
            yield with_operation(schedule, number, slot, operation.with_fields(b="one"))


@fault
def rows_that_land_in_another_order(schedule: Schedule) -> Iterator[Schedule]:
    """Two rows of a model may be one row, and then the later word stays."""
    bodies = [
        (number, issue)
        for number in dict.fromkeys(number for number, _, _ in _scattering(schedule))
        for issue, strand in enumerate(schedule.strands)
        if strand.unit == "root_issue" and strand.start + timing().result == schedule.strands[number].start
    ]
    for (write, issue), (later, other) in pairwise(bodies):
        strands = list(schedule.strands)
        if len(strands[write].body) == len(strands[later].body) and strands[write].counts == strands[later].counts:
            for one, another in ((write, later), (issue, other)):
                first, second = strands[one], strands[another]
                strands[one] = replace(second, start=first.start)
                strands[another] = replace(first, start=second.start)
            yield replace(schedule, strands=tuple(strands))

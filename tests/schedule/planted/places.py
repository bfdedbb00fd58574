"""Faults of bodies, addresses, lanes, forwarded words, the bus and the tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.layout import is_scratch
from tabla.schedule.strands.strand import Address, Strand
from tests.schedule.planted.changes import (
    fault,
    fields,
    moved,
    operations,
    reading,
    shifted,
    true_product,
    with_operation,
    with_strand,
)

# ---- bodies and addresses


def _exchanged(schedule: Schedule, unit: str) -> Iterator[Schedule]:
    for one, before in enumerate(schedule.strands):
        for other, after in enumerate(schedule.strands[:one]):
            alike = before.unit == after.unit == unit and before.counts == after.counts
            if alike and before.sequencers == after.sequencers and before.body != after.body:
                both = with_strand(schedule, one, replace(before, body=after.body))
                addressed = all(_addresses(before)) and all(_addresses(after))
                if len(before.body) == len(after.body) and addressed and _addresses(before) != _addresses(after):
                    yield with_strand(both, other, replace(after, body=before.body))


def _addresses(strand: Strand) -> list[Mapping[str, Address]]:
    return [operation.addresses for operation in strand.body]


@fault
def bodies_of_root_writes_exchanged(schedule: Schedule) -> Iterator[Schedule]:
    yield from _exchanged(schedule, "root_write")


@fault
def bodies_of_root_issues_exchanged(schedule: Schedule) -> Iterator[Schedule]:
    yield from _exchanged(schedule, "root_issue")


@fault
def bodies_of_lane_issues_exchanged(schedule: Schedule) -> Iterator[Schedule]:
    yield from _exchanged(schedule, "lane_issue")


@fault
def bodies_of_lane_writes_exchanged(schedule: Schedule) -> Iterator[Schedule]:
    yield from _exchanged(schedule, "lane_write")


def _bases(schedule: Schedule, unit: str, *generators: str) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, unit):
        for generator in reading(operation, *generators):
            yield with_operation(schedule, number, slot, shifted(operation, generator, 1))


@fault
def base_of_a_root_read_shifted(schedule: Schedule) -> Iterator[Schedule]:
    yield from _bases(schedule, "root_issue", "a", "b", "c")


@fault
def base_of_a_lane_read_shifted(schedule: Schedule) -> Iterator[Schedule]:
    yield from _bases(schedule, "lane_issue", "model", "data", "interim")


@fault
def base_of_a_root_write_shifted(schedule: Schedule) -> Iterator[Schedule]:
    yield from _bases(schedule, "root_write", "address")


@fault
def base_of_a_lane_write_shifted(schedule: Schedule) -> Iterator[Schedule]:
    yield from _bases(schedule, "lane_write", "address")


def _strides(schedule: Schedule, unit: str) -> Iterator[Schedule]:
    for number, slot, strand, operation in operations(schedule, unit):
        for generator in reading(operation, "a", "b", "c", "model", "data", "interim", "address"):
            address = operation.addresses[generator]
            for level, (count, stride) in enumerate(zip(strand.counts, address.strides, strict=True)):
                # What a closed gate keeps out may be any word.
                if count > 1 and not operation.field("gate"):
                    strides = (*address.strides[:level], stride + 1, *address.strides[level + 1 :])
                    wrong = moved(operation, {generator: replace(address, strides=strides)})
                    yield with_operation(schedule, number, slot, wrong)


@fault
def wrong_stride_of_the_root(schedule: Schedule) -> Iterator[Schedule]:
    yield from (s for unit in ("root_issue", "root_write") for s in _strides(schedule, unit))


@fault
def wrong_stride_of_lanes(schedule: Schedule) -> Iterator[Schedule]:
    yield from (s for unit in ("lane_issue", "lane_write") for s in _strides(schedule, unit))


@fault
def loops_in_another_order(schedule: Schedule) -> Iterator[Schedule]:
    """The innermost two loops, of which an address steps differently, change places for it."""
    for number, slot, strand, operation in operations(schedule, "lane_issue", "root_issue", "lane_write", "root_write"):
        for generator in reading(operation, "a", "b", "c", "model", "data", "interim", "address"):
            address = operation.addresses[generator]
            several = len(strand.counts) > 1 and min(strand.counts[-2:]) > 1 and len(set(address.strides[-2:])) == 2
            # The largest of the same words is the same in every order.
            if several and operation.field("post") != "extreme":
                strides = (*address.strides[:-2], address.strides[-1], address.strides[-2])
                wrong = moved(operation, {generator: replace(address, strides=strides)})
                yield with_operation(schedule, number, slot, wrong)


@fault
def address_of_another_tensor(schedule: Schedule) -> Iterator[Schedule]:
    """A read at the root of one scalar instead of another."""
    scalars = {
        place.base
        for (tensor, spot), place in schedule.layout.places.items()
        if place.words == 1 and spot.kind == "root" and place.banks[0] == "memory"
    }
    for number, slot, _, operation in operations(schedule, "root_issue"):
        for port in reading(operation, "a", "b", "c"):
            if operation.field(port) == "memory" and operation.addresses[port].base in scalars:
                for base in sorted(scalars - {operation.addresses[port].base})[:2]:
                    address = replace(operation.addresses[port], base=base)
                    yield with_operation(schedule, number, slot, moved(operation, {port: address}))


@fault
def two_tensors_of_equal_shape_exchanged_in_the_layout(schedule: Schedule) -> Iterator[Schedule]:
    places = [(key, place) for key, place in sorted(schedule.layout.places.items()) if not is_scratch(key[1])]
    for n, (one, first) in enumerate(places):
        for other, second in places[:n]:
            if one[1] == other[1] and first.shape == second.shape and first.banks == second.banks:
                swapped = {
                    **schedule.layout.places,
                    one: replace(first, base=second.base),
                    other: replace(second, base=first.base),
                }
                yield replace(schedule, layout=replace(schedule.layout, places=swapped))


@fault
def two_places_that_share_words(schedule: Schedule) -> Iterator[Schedule]:
    for key, place in sorted(schedule.layout.places.items()):
        if place.base:
            moved = {**schedule.layout.places, key: replace(place, base=place.base - 1)}
            yield replace(schedule, layout=replace(schedule.layout, places=moved))


@fault
def window_of_the_sample_forgotten(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        for generator, address in operation.addresses.items():
            if address.window:
                wrong = moved(operation, {generator: replace(address, window=False)})
                yield with_operation(schedule, number, slot, wrong)


# ---- lanes and guards


@fault
def window_of_the_sample_in_a_guard(schedule: Schedule) -> Iterator[Schedule]:
    """In every second sample the guard would move by as many lanes as a sample has words."""
    for number, slot, _, operation in operations(schedule, "lane_issue", "lane_write"):
        for name in ("low", "high"):
            if name in operation.addresses:
                wrong = moved(operation, {name: replace(operation.addresses[name], window=True)})
                yield with_operation(schedule, number, slot, wrong)


@fault
def another_lane(schedule: Schedule) -> Iterator[Schedule]:
    """The one lane that passes its word on is the next one."""
    for number, slot, _, operation in operations(schedule, "lane_issue", "lane_write"):
        low, high = (operation.addresses.get(name) for name in ("low", "high"))
        if low and high and high.base - low.base == 1:
            ends = {"low": replace(low, base=low.base + 1), "high": replace(high, base=high.base + 1)}
            yield with_operation(schedule, number, slot, moved(operation, ends))


def _guards(schedule: Schedule, unit: str, name: str, step: int) -> Iterator[Schedule]:
    """Guards one lane narrower: the first lane of the first row, or the last one of the last, is left out.

    Copies that every lane has need not be wanted in each, and start values do not ask for guards.
    """
    for number, slot, _, operation in operations(schedule, unit):
        works = operation.field("a", "zero") != "zero" or operation.field("source") == "result"
        if name in operation.addresses and works:
            yield with_operation(schedule, number, slot, shifted(operation, name, step))


@fault
def first_lane_left_out_of_a_write(schedule: Schedule) -> Iterator[Schedule]:
    yield from _guards(schedule, "lane_write", "low", 1)


@fault
def last_lane_left_out_of_a_write(schedule: Schedule) -> Iterator[Schedule]:
    yield from _guards(schedule, "lane_write", "high", -1)


@fault
def last_lane_left_out_of_a_computation(schedule: Schedule) -> Iterator[Schedule]:
    yield from _guards(schedule, "lane_issue", "high", -1)


@fault
def a_lane_too_many_in_a_sum(schedule: Schedule) -> Iterator[Schedule]:
    """Where a row of lanes is not full, the word beside the last one joins the sum."""
    for number, slot, strand, operation in operations(schedule, "lane_issue"):
        # Beyond the lanes of its own no sequencer does anything.
        if operation.field("up") and true_product(operation) and schedule.template.sequencers == 1:
            high = strand.values(operation.addresses["high"])
            if int(high.min()) < schedule.template.lanes:
                yield with_operation(schedule, number, slot, shifted(operation, "high", 1))


@fault
def a_write_that_nobody_makes(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        # The root may write a word that is only forwarded.
        if strand.unit == "lane_write":
            yield replace(schedule, strands=(*schedule.strands[:number], *schedule.strands[number + 1 :]))


@fault
def a_write_one_turn_short(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if strand.unit in ("lane_write", "root_write") and strand.counts and strand.counts[0] > 1:
            yield with_strand(schedule, number, replace(strand, counts=(strand.counts[0] - 1, *strand.counts[1:])))


@fault
def another_sequencer(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if len(strand.sequencers) == 1:
            other = (strand.sequencers[0] + 1) % schedule.template.sequencers
            yield with_strand(schedule, number, replace(strand, sequencers=(other,)))


# ---- registers, bus and tree


@fault
def a_forwarded_word_that_is_stale(schedule: Schedule) -> Iterator[Schedule]:
    """What the register shows instead of the memory's word, in whatever cycle that is."""
    for number, slot, _, operation in operations(schedule, "root_issue"):
        for port in ("a", "b", "c"):
            if operation.field(port) == "memory" and (port != "c" or operation.field("base") == "addend"):
                yield with_operation(schedule, number, slot, operation.with_fields(**{port: "result"}))


@fault
def a_word_forwarded_early(schedule: Schedule) -> Iterator[Schedule]:
    """One cycle late becomes in time, or the other way round."""
    for number, slot, _, operation in operations(schedule, "root_issue"):
        source = str(operation.field("c"))
        if source in ("result", "function", "late_result", "late_function"):
            other = source.removeprefix("late_") if source.startswith("late_") else f"late_{source}"
            yield with_operation(schedule, number, slot, operation.with_fields(c=other))


@fault
def the_result_instead_of_its_function(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_write"):
        if operation.field("source") == "function":
            yield with_operation(schedule, number, slot, operation.with_fields(source="result"))


@fault
def the_bus_instead_of_a_result(schedule: Schedule) -> Iterator[Schedule]:
    yield from fields(schedule, "lane_write", "source", "result", "bus")


@fault
def a_result_instead_of_the_bus(schedule: Schedule) -> Iterator[Schedule]:
    yield from fields(schedule, "lane_write", "source", "bus", "result")


@fault
def another_word_on_the_bus(schedule: Schedule) -> Iterator[Schedule]:
    """The root's fetch for a broadcast goes through its words from the second on."""
    sends = {strand.start for strand in schedule.strands if any(o.field("to_bus") for o in strand.body)}
    for number, slot, strand, operation in operations(schedule, "root_issue"):
        copy = operation.field("base") == "addend" and operation.field("a", "zero") == "zero"
        if copy and strand.start + 7 in sends and "c" in operation.addresses and strand.iterations > 1:
            yield with_operation(schedule, number, slot, shifted(operation, "c", 1))


@fault
def nothing_sent_to_the_bus(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_write"):
        if operation.field("to_bus") and not operation.field("to_memory"):
            yield with_operation(schedule, number, slot, operation.with_fields(to_bus=0))


@fault
def a_sum_not_marked_for_the_tree(schedule: Schedule) -> Iterator[Schedule]:
    yield from fields(schedule, "lane_issue", "up", 1, 0)


@fault
def the_array_instead_of_the_group(schedule: Schedule) -> Iterator[Schedule]:
    if schedule.template.roots > 1:
        yield from fields(schedule, "root_issue", "base", "tree", "array")


@fault
def the_group_instead_of_the_array(schedule: Schedule) -> Iterator[Schedule]:
    yield from fields(schedule, "root_issue", "base", "array", "tree")

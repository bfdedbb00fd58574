"""Faults that a compiler could make, planted into schedules that are right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tabla.templates.template import functions

from tabla.schedule.schedule import Schedule
from tabla.strands.layout import is_scratch
from tabla.strands.strand import Address, Operation, Strand

Fault = Callable[[Schedule], Iterator[Schedule]]
FAULTS: dict[str, Fault] = {}
"""By name: all the ways in which a fault can be planted into a schedule."""
_COMPARED = ("<", "<=", ">", ">=", "==", "!=")


def _fault(plant: Fault) -> Fault:
    FAULTS[plant.__name__.replace("_", " ")] = plant
    return plant


# ---- how to change a schedule


def with_strand(schedule: Schedule, number: int, strand: Strand) -> Schedule:
    """The schedule with another strand at a position."""
    strands = (*schedule.strands[:number], strand, *schedule.strands[number + 1 :])
    return replace(schedule, strands=tuple(sorted(strands, key=lambda s: (s.unit, s.start))))


def operations(schedule: Schedule, *units: str) -> Iterator[tuple[int, int, Strand, Operation]]:
    """Every operation of some units: the position of its strand, its slot, the strand and itself."""
    for number, strand in enumerate(schedule.strands):
        if strand.unit in units:
            for slot, operation in enumerate(strand.body):
                yield number, slot, strand, operation


def with_operation(schedule: Schedule, number: int, slot: int, operation: Operation) -> Schedule:
    """The schedule with another operation in a slot."""
    strand = schedule.strands[number]
    return with_strand(schedule, number, replace(strand, body=_put(strand.body, slot, operation)))


def _put(body: tuple[Operation, ...], slot: int, operation: Operation) -> tuple[Operation, ...]:
    return (*body[:slot], operation, *body[slot + 1 :])


def _moved(operation: Operation, changes: Mapping[str, Address]) -> Operation:
    return replace(operation, addresses={**operation.addresses, **changes})


def _shifted(operation: Operation, generator: str, step: int) -> Operation:
    address = operation.addresses[generator]
    return _moved(operation, {generator: replace(address, base=address.base + step)})


def _reading(operation: Operation, *generators: str) -> list[str]:
    """The generators of memories that an operation reads."""
    return [g for g in operation.addresses if g in generators]


def _fields(schedule: Schedule, unit: str, name: str, old: object, new: str | int) -> Iterator[Schedule]:
    """Each operation of a unit that says `old` says `new`."""
    for number, slot, _, operation in operations(schedule, unit):
        if operation.field(name) == old:
            yield with_operation(schedule, number, slot, operation.with_fields(**{name: new}))


def _true_product(operation: Operation) -> bool:
    return operation.field("a", "zero") != "zero" and operation.field("b", "one") not in ("one", "position", 0)


def _writes_memory(operation: Operation) -> bool:
    return any(operation.field(name) for name in ("to_memory", "to_model", "to_interim"))


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


@_fault
def bodies_of_root_writes_exchanged(schedule: Schedule) -> Iterator[Schedule]:
    yield from _exchanged(schedule, "root_write")


@_fault
def bodies_of_root_issues_exchanged(schedule: Schedule) -> Iterator[Schedule]:
    yield from _exchanged(schedule, "root_issue")


@_fault
def bodies_of_lane_issues_exchanged(schedule: Schedule) -> Iterator[Schedule]:
    yield from _exchanged(schedule, "lane_issue")


@_fault
def bodies_of_lane_writes_exchanged(schedule: Schedule) -> Iterator[Schedule]:
    yield from _exchanged(schedule, "lane_write")


def _bases(schedule: Schedule, unit: str, *generators: str) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, unit):
        for generator in _reading(operation, *generators):
            yield with_operation(schedule, number, slot, _shifted(operation, generator, 1))


@_fault
def base_of_a_root_read_shifted(schedule: Schedule) -> Iterator[Schedule]:
    yield from _bases(schedule, "root_issue", "a", "b", "c")


@_fault
def base_of_a_lane_read_shifted(schedule: Schedule) -> Iterator[Schedule]:
    yield from _bases(schedule, "lane_issue", "model", "data", "interim")


@_fault
def base_of_a_root_write_shifted(schedule: Schedule) -> Iterator[Schedule]:
    yield from _bases(schedule, "root_write", "address")


@_fault
def base_of_a_lane_write_shifted(schedule: Schedule) -> Iterator[Schedule]:
    yield from _bases(schedule, "lane_write", "address")


def _strides(schedule: Schedule, unit: str) -> Iterator[Schedule]:
    for number, slot, strand, operation in operations(schedule, unit):
        for generator in _reading(operation, "a", "b", "c", "model", "data", "interim", "address"):
            address = operation.addresses[generator]
            for level, (count, stride) in enumerate(zip(strand.counts, address.strides, strict=True)):
                # What a closed gate keeps out may be any word.
                if count > 1 and not operation.field("gate"):
                    strides = (*address.strides[:level], stride + 1, *address.strides[level + 1 :])
                    wrong = _moved(operation, {generator: replace(address, strides=strides)})
                    yield with_operation(schedule, number, slot, wrong)


@_fault
def wrong_stride_of_the_root(schedule: Schedule) -> Iterator[Schedule]:
    yield from (s for unit in ("root_issue", "root_write") for s in _strides(schedule, unit))


@_fault
def wrong_stride_of_lanes(schedule: Schedule) -> Iterator[Schedule]:
    yield from (s for unit in ("lane_issue", "lane_write") for s in _strides(schedule, unit))


@_fault
def loops_in_another_order(schedule: Schedule) -> Iterator[Schedule]:
    """The innermost two loops, of which an address steps differently, change places for it."""
    for number, slot, strand, operation in operations(schedule, "lane_issue", "root_issue", "lane_write", "root_write"):
        for generator in _reading(operation, "a", "b", "c", "model", "data", "interim", "address"):
            address = operation.addresses[generator]
            several = len(strand.counts) > 1 and min(strand.counts[-2:]) > 1 and len(set(address.strides[-2:])) == 2
            # The largest of the same words is the same in every order.
            if several and operation.field("post") != "extreme":
                strides = (*address.strides[:-2], address.strides[-1], address.strides[-2])
                wrong = _moved(operation, {generator: replace(address, strides=strides)})
                yield with_operation(schedule, number, slot, wrong)


@_fault
def address_of_another_tensor(schedule: Schedule) -> Iterator[Schedule]:
    """A read at the root of one scalar instead of another."""
    scalars = {
        place.base
        for (tensor, spot), place in schedule.layout.places.items()
        if place.words == 1 and spot.kind == "root" and place.banks[0] == "memory"
    }
    for number, slot, _, operation in operations(schedule, "root_issue"):
        for port in _reading(operation, "a", "b", "c"):
            if operation.field(port) == "memory" and operation.addresses[port].base in scalars:
                for base in sorted(scalars - {operation.addresses[port].base})[:2]:
                    address = replace(operation.addresses[port], base=base)
                    yield with_operation(schedule, number, slot, _moved(operation, {port: address}))


@_fault
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


@_fault
def two_places_that_share_words(schedule: Schedule) -> Iterator[Schedule]:
    for key, place in sorted(schedule.layout.places.items()):
        if place.base:
            moved = {**schedule.layout.places, key: replace(place, base=place.base - 1)}
            yield replace(schedule, layout=replace(schedule.layout, places=moved))


@_fault
def window_of_the_sample_forgotten(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        for generator, address in operation.addresses.items():
            if address.window:
                wrong = _moved(operation, {generator: replace(address, window=False)})
                yield with_operation(schedule, number, slot, wrong)


# ---- lanes and guards


@_fault
def window_of_the_sample_in_a_guard(schedule: Schedule) -> Iterator[Schedule]:
    """In every second sample the guard would move by as many lanes as a sample has words."""
    for number, slot, _, operation in operations(schedule, "lane_issue", "lane_write"):
        for name in ("low", "high"):
            if name in operation.addresses:
                wrong = _moved(operation, {name: replace(operation.addresses[name], window=True)})
                yield with_operation(schedule, number, slot, wrong)


@_fault
def another_lane(schedule: Schedule) -> Iterator[Schedule]:
    """The one lane that passes its word on is the next one."""
    for number, slot, _, operation in operations(schedule, "lane_issue", "lane_write"):
        low, high = (operation.addresses.get(name) for name in ("low", "high"))
        if low and high and high.base - low.base == 1:
            ends = {"low": replace(low, base=low.base + 1), "high": replace(high, base=high.base + 1)}
            yield with_operation(schedule, number, slot, _moved(operation, ends))


def _guards(schedule: Schedule, unit: str, name: str, step: int) -> Iterator[Schedule]:
    """Guards one lane narrower: the first lane of the first row, or the last one of the last, is left out.

    Copies that every lane has need not be wanted in each, and start values do not ask for guards.
    """
    for number, slot, _, operation in operations(schedule, unit):
        works = operation.field("a", "zero") != "zero" or operation.field("source") == "result"
        if name in operation.addresses and works:
            yield with_operation(schedule, number, slot, _shifted(operation, name, step))


@_fault
def first_lane_left_out_of_a_write(schedule: Schedule) -> Iterator[Schedule]:
    yield from _guards(schedule, "lane_write", "low", 1)


@_fault
def last_lane_left_out_of_a_write(schedule: Schedule) -> Iterator[Schedule]:
    yield from _guards(schedule, "lane_write", "high", -1)


@_fault
def last_lane_left_out_of_a_computation(schedule: Schedule) -> Iterator[Schedule]:
    yield from _guards(schedule, "lane_issue", "high", -1)


@_fault
def a_lane_too_many_in_a_sum(schedule: Schedule) -> Iterator[Schedule]:
    """Where a row of lanes is not full, the word beside the last one joins the sum."""
    for number, slot, strand, operation in operations(schedule, "lane_issue"):
        # Beyond the lanes of its own no sequencer does anything.
        if operation.field("up") and _true_product(operation) and schedule.template.sequencers == 1:
            high = strand.values(operation.addresses["high"])
            if int(high.min()) < schedule.template.lanes:
                yield with_operation(schedule, number, slot, _shifted(operation, "high", 1))


@_fault
def a_write_that_nobody_makes(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        # The root may write a word that is only forwarded.
        if strand.unit == "lane_write":
            yield replace(schedule, strands=(*schedule.strands[:number], *schedule.strands[number + 1 :]))


@_fault
def a_write_one_turn_short(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if strand.unit in ("lane_write", "root_write") and strand.counts and strand.counts[0] > 1:
            yield with_strand(schedule, number, replace(strand, counts=(strand.counts[0] - 1, *strand.counts[1:])))


@_fault
def another_sequencer(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if len(strand.sequencers) == 1:
            other = (strand.sequencers[0] + 1) % schedule.template.sequencers
            yield with_strand(schedule, number, replace(strand, sequencers=(other,)))


# ---- registers, bus and tree


@_fault
def a_forwarded_word_that_is_stale(schedule: Schedule) -> Iterator[Schedule]:
    """What the register shows instead of the memory's word, in whatever cycle that is."""
    for number, slot, _, operation in operations(schedule, "root_issue"):
        for port in ("a", "b", "c"):
            if operation.field(port) == "memory" and (port != "c" or operation.field("base") == "addend"):
                yield with_operation(schedule, number, slot, operation.with_fields(**{port: "result"}))


@_fault
def a_word_forwarded_early(schedule: Schedule) -> Iterator[Schedule]:
    """One cycle late becomes in time, or the other way round."""
    for number, slot, _, operation in operations(schedule, "root_issue"):
        source = str(operation.field("c"))
        if source in ("result", "function", "late_result", "late_function"):
            other = source.removeprefix("late_") if source.startswith("late_") else f"late_{source}"
            yield with_operation(schedule, number, slot, operation.with_fields(c=other))


@_fault
def the_result_instead_of_its_function(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_write"):
        if operation.field("source") == "function":
            yield with_operation(schedule, number, slot, operation.with_fields(source="result"))


@_fault
def the_bus_instead_of_a_result(schedule: Schedule) -> Iterator[Schedule]:
    yield from _fields(schedule, "lane_write", "source", "result", "bus")


@_fault
def a_result_instead_of_the_bus(schedule: Schedule) -> Iterator[Schedule]:
    yield from _fields(schedule, "lane_write", "source", "bus", "result")


@_fault
def another_word_on_the_bus(schedule: Schedule) -> Iterator[Schedule]:
    """The root's fetch for a broadcast goes through its words from the second on."""
    sends = {strand.start for strand in schedule.strands if any(o.field("to_bus") for o in strand.body)}
    for number, slot, strand, operation in operations(schedule, "root_issue"):
        copy = operation.field("base") == "addend" and operation.field("a", "zero") == "zero"
        if copy and strand.start + 7 in sends and "c" in operation.addresses and strand.iterations > 1:
            yield with_operation(schedule, number, slot, _shifted(operation, "c", 1))


@_fault
def nothing_sent_to_the_bus(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_write"):
        if operation.field("to_bus") and not operation.field("to_memory"):
            yield with_operation(schedule, number, slot, operation.with_fields(to_bus=0))


@_fault
def a_sum_not_marked_for_the_tree(schedule: Schedule) -> Iterator[Schedule]:
    yield from _fields(schedule, "lane_issue", "up", 1, 0)


@_fault
def the_array_instead_of_the_group(schedule: Schedule) -> Iterator[Schedule]:
    if schedule.template.roots > 1:
        yield from _fields(schedule, "root_issue", "base", "tree", "array")


@_fault
def the_group_instead_of_the_array(schedule: Schedule) -> Iterator[Schedule]:
    yield from _fields(schedule, "root_issue", "base", "array", "tree")


# ---- what is computed


def _rounded(operation: Operation) -> bool:
    """Whether a product is rounded there: half a unit makes a difference."""
    return _true_product(operation) and operation.field("post", "none") == "none"


@_fault
def no_half_unit(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        shifted = schedule.format.fraction + schedule.shifts[int(operation.field("shift"))]
        if operation.field("half", "none") != "none" and _rounded(operation) and shifted:
            yield with_operation(schedule, number, slot, operation.with_fields(half="none"))


@_fault
def half_a_unit_twice(schedule: Schedule) -> Iterator[Schedule]:
    """At the root, of a sum of the lanes, which have added it."""
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if operation.field("base") in ("tree", "array") and operation.field("emit"):
            yield with_operation(schedule, number, slot, operation.with_fields(half="all"))


@_fault
def half_a_unit_in_every_lane(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue"):
        if operation.field("half") in ("lane0", "array0") and schedule.template.lanes > 1:
            yield with_operation(schedule, number, slot, operation.with_fields(half="all"))


@_fault
def half_a_unit_in_every_lane_of_a_copy(schedule: Schedule) -> Iterator[Schedule]:
    """One half would not change a word that goes up; those of all lanes do."""
    for number, slot, _, operation in operations(schedule, "lane_issue"):
        if operation.field("up") and not _true_product(operation) and schedule.template.lanes > 1:
            if operation.field("post", "none") == "none":
                yield with_operation(schedule, number, slot, operation.with_fields(half="all"))


@_fault
def half_a_unit_in_every_group(schedule: Schedule) -> Iterator[Schedule]:
    yield from _fields(schedule, "lane_issue", "half", "array0", "lane0")


@_fault
def another_shift(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if len(schedule.shifts) > 1 and _rounded(operation) and operation.field("emit"):
            other = 0 if operation.field("shift") else 1
            yield with_operation(schedule, number, slot, operation.with_fields(shift=other))


@_fault
def another_function(schedule: Schedule) -> Iterator[Schedule]:
    codes = {f.code: f for f in functions().values()}
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if code := operation.field("function"):
            for other in codes.values():
                if other.kind == codes[int(code)].kind and other.code != code:
                    yield with_operation(schedule, number, slot, operation.with_fields(function=other.code))


@_fault
def no_function(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if operation.field("function"):
            yield with_operation(schedule, number, slot, operation.with_fields(function=0))


@_fault
def another_sign(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if operation.field("a", "zero") != "zero" and operation.field("post") not in ("==", "!="):
            several = operation.field("post") != "extreme" or operation.field("base") != "zero"
            if several:
                negate = 1 - int(operation.field("negate"))
                yield with_operation(schedule, number, slot, operation.with_fields(negate=negate))


@_fault
def no_addend(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if operation.field("base") == "addend":
            yield with_operation(schedule, number, slot, operation.with_fields(base="zero"))


@_fault
def a_product_in_every_turn(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, strand, operation in operations(schedule, "lane_issue", "root_issue"):
        gate = int(operation.field("gate"))
        if gate and strand.iterations > 1:
            yield with_operation(schedule, number, slot, operation.with_fields(gate=0))


@_fault
def a_sum_over_a_loop_less(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if strand.reduce and strand.counts[-strand.reduce] > 1:
            yield with_strand(schedule, number, replace(strand, reduce=strand.reduce - 1))


@_fault
def a_sum_over_a_loop_more(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        level = len(strand.counts) - strand.reduce - 1
        fresh = strand.unit in ("lane_issue", "root_issue") and strand.body[0].field("base") != "accumulator"
        if fresh and level >= 0 and strand.counts[level] > 1:
            yield with_strand(schedule, number, replace(strand, reduce=strand.reduce + 1))


@_fault
def a_sum_that_begins_anew_in_each_slot(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if slot and operation.field("base") == "accumulator":
            yield with_operation(schedule, number, slot, operation.with_fields(base="zero"))


@_fault
def a_comparison_the_other_way_round(schedule: Schedule) -> Iterator[Schedule]:
    turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "!=", "!=": "=="}
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if operation.field("post") in _COMPARED:
            post = turned[str(operation.field("post"))]
            yield with_operation(schedule, number, slot, operation.with_fields(post=post))


@_fault
def a_comparison_that_takes_equals(schedule: Schedule) -> Iterator[Schedule]:
    other = {"<": "<=", ">": ">=", "<=": "<", ">=": ">"}
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if (post := str(operation.field("post"))) in other:
            yield with_operation(schedule, number, slot, operation.with_fields(post=other[post]))


@_fault
def an_extreme_as_a_sum(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if all(o.field("post") == "extreme" for o in strand.body) and (strand.reduce or len(strand.body) > 1):
            body = tuple(o.with_fields(post="none", emit=1) for o in strand.body)
            yield with_strand(schedule, number, replace(strand, body=body))


@_fault
def the_smallest_instead_of_the_largest(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if all(o.field("post") == "extreme" for o in strand.body) and strand.reduce:
            body = tuple(o.with_fields(negate=1 - int(o.field("negate"))) for o in strand.body)
            yield with_strand(schedule, number, replace(strand, body=body))


@_fault
def divisor_and_dividend_exchanged(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if operation.field("function") == functions()["divide"].code and {"b", "c"} <= operation.addresses.keys():
            wrong = _moved(operation, {"b": operation.addresses["c"], "c": operation.addresses["b"]})
            yield with_operation(
                schedule,
                number,
                slot,
                wrong.with_fields(b=operation.field("c"), c=operation.field("b")),
            )


@_fault
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


@_fault
def another_memory_of_the_root(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_issue"):
        for port in _reading(operation, "a", "b", "c"):
            if operation.field(port) in ("memory", "data"):
                other = "data" if operation.field(port) == "memory" else "memory"
                address = replace(operation.addresses[port], window=other == "data")
                wrong = _moved(operation, {port: address}).with_fields(**{port: other})
                yield with_operation(schedule, number, slot, wrong)


# ---- gathers


def _gathering(operation: Operation) -> bool:
    return str(operation.field("a")).startswith("gathered_")


@_fault
def words_gathered_one_further(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if _gathering(operation):
            yield with_operation(schedule, number, slot, _shifted(operation, "a", 1))


@_fault
def words_gathered_by_no_position(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if _gathering(operation):
            plain = str(operation.field("a")).removeprefix("gathered_")
            yield with_operation(schedule, number, slot, operation.with_fields(a=plain))


@_fault
def a_position_not_fetched(schedule: Schedule) -> Iterator[Schedule]:
    yield from _fields(schedule, "root_issue", "b", "position", "one")


@_fault
def position_of_another_row(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "root_issue"):
        if operation.field("b") == "position":
            base = operation.addresses["c"].base
            step = -1 if base else 1
            yield with_operation(schedule, number, slot, _shifted(operation, "c", step))


# ---- what is counted and what leaves


@_fault
def overflows_not_counted(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if operation.field("emit") and _rounded(operation):
            yield with_operation(schedule, number, slot, operation.with_fields(emit=0))


@_fault
def overflows_of_a_shifted_word_not_counted(schedule: Schedule) -> Iterator[Schedule]:
    """An integer becomes a real word by a shift alone, and may leave the range of words there."""
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        shifted = schedule.shifts[int(operation.field("shift"))] != 0
        alone = operation.field("a", "zero") != "zero" and operation.field("b", "one") in ("one", 0)
        if shifted and alone and operation.field("base", "zero") == "zero" and operation.field("emit"):
            yield with_operation(schedule, number, slot, operation.with_fields(emit=0))


@_fault
def overflows_of_parts_counted(schedule: Schedule) -> Iterator[Schedule]:
    """Lanes count overflows of their parts of a sum that only the root rounds."""
    for number, slot, _, operation in operations(schedule, "lane_issue"):
        if operation.field("up") and _true_product(operation):
            yield with_operation(schedule, number, slot, operation.with_fields(emit=1))


@_fault
def an_update_not_marked(schedule: Schedule) -> Iterator[Schedule]:
    for unit in ("lane_write", "root_write"):
        yield from _fields(schedule, unit, "model", 1, 0)


@_fault
def a_mark_on_what_is_no_update(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_write", "root_write"):
        if _writes_memory(operation) and not operation.field("model"):
            yield with_operation(schedule, number, slot, operation.with_fields(model=1))


@_fault
def an_output_missing(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, strand, operation in operations(schedule, "root_write"):
        if operation.field("to_output"):
            silent = with_operation(schedule, number, slot, operation.with_fields(to_output=0))
            each = schedule.template.roots if schedule.split_results else 1
            yield replace(silent, outputs=schedule.outputs - each * strand.iterations)


@_fault
def an_output_too_many(schedule: Schedule) -> Iterator[Schedule]:
    each = schedule.template.roots if schedule.split_results else 1
    for number, slot, strand, operation in operations(schedule, "root_write"):
        if not operation.field("to_output"):
            loud = with_operation(schedule, number, slot, operation.with_fields(to_output=1))
            yield replace(loud, outputs=schedule.outputs + each * strand.iterations)


@_fault
def outputs_in_another_order(schedule: Schedule) -> Iterator[Schedule]:
    """Words of a result are fetched from the last one to the first."""
    begins = {s.start: s for s in schedule.strands if s.unit == "root_write" and s.body[0].field("to_output")}
    for number, slot, strand, operation in operations(schedule, "root_issue"):
        put = begins.get(strand.start + 7)
        copy = operation.field("a", "zero") == "zero" and "c" in operation.addresses
        if put is not None and copy and len(strand.counts) == 1 and strand.counts[0] > 1:
            address, count = operation.addresses["c"], strand.counts[0]
            turned = replace(
                address,
                base=address.base + (count - 1) * address.strides[0],
                strides=(-address.strides[0],),
            )
            yield with_operation(schedule, number, slot, _moved(operation, {"c": turned}))


@_fault
def results_taken_for_each_other(schedule: Schedule) -> Iterator[Schedule]:
    """The host takes words for another result, or for other elements, than they are."""
    shown = [p for p in schedule.placed if p.task.shows]
    for one in shown:
        for other in shown:
            sizes = {s: schedule.mapped.tensors[t].size for s, t in schedule.mapped.results}
            if one is not other and one.task.shows != other.task.shows and not (one.task.leaves or other.task.leaves):
                if sizes[one.task.shows] == sizes[other.task.shows]:
                    swap = {id(one): other.task.shows, id(other): one.task.shows}
                    placed = tuple(
                        replace(p, task=replace(p.task, shows=swap[id(p)])) if id(p) in swap else p
                        for p in schedule.placed
                    )
                    yield replace(schedule, placed=placed)


# ---- the stream and the dump


def _streams(
    schedule: Schedule, how: Callable[[Strand, Operation], Operation | None], *names: str
) -> Iterator[Schedule]:
    for name in names or ("stream_sample", "stream_load"):
        strands: tuple[Strand, ...] = getattr(schedule, name)
        for number, strand in enumerate(strands):
            changed = how(strand, strand.body[0])
            if changed is not None:
                wrong = (*strands[:number], replace(strand, body=(changed,)), *strands[number + 1 :])
                yield replace(schedule, **{name: wrong})


@_fault
def a_streamed_place_shifted(schedule: Schedule) -> Iterator[Schedule]:
    yield from _streams(schedule, lambda strand, o: _shifted(o, "address", 1), "stream_sample")


@_fault
def a_loaded_place_shifted(schedule: Schedule) -> Iterator[Schedule]:
    yield from _streams(schedule, lambda strand, o: _shifted(o, "address", 1), "stream_load")


@_fault
def another_block_of_lanes(schedule: Schedule) -> Iterator[Schedule]:
    yield from _streams(schedule, lambda strand, o: _shifted(o, "block", 1))


@_fault
def a_streamed_address_with_another_stride(schedule: Schedule) -> Iterator[Schedule]:
    def wrong(strand: Strand, operation: Operation) -> Operation | None:
        address = operation.addresses["address"]
        if strand.counts[0] < 2:
            return None
        return _moved(operation, {"address": replace(address, strides=(-address.strides[0], *address.strides[1:]))})

    yield from _streams(schedule, wrong)


@_fault
def words_for_all_lanes_given_to_each_its_own(schedule: Schedule) -> Iterator[Schedule]:
    def wrong(strand: Strand, operation: Operation) -> Operation | None:
        lanes = any(operation.field(f"to_{bank}") for bank in ("data", "model", "interim"))
        return operation.with_fields(all=1 - int(operation.field("all"))) if lanes else None

    if schedule.template.lanes > 1:
        yield from _streams(schedule, wrong)


@_fault
def words_for_all_groups_given_to_each_its_own(schedule: Schedule) -> Iterator[Schedule]:
    if schedule.template.roots > 1:
        yield from _streams(schedule, lambda strand, o: o.with_fields(same=1 - int(o.field("same"))))


@_fault
def models_loaded_into_another_memory(schedule: Schedule) -> Iterator[Schedule]:
    def wrong(strand: Strand, operation: Operation) -> Operation | None:
        if operation.field("to_model") and not operation.field("to_interim"):
            return operation.with_fields(to_model=0, to_interim=1)
        return None

    yield from _streams(schedule, wrong, "stream_load")


@_fault
def a_place_that_is_not_loaded(schedule: Schedule) -> Iterator[Schedule]:
    for number in range(len(schedule.stream_load)):
        yield replace(schedule, stream_load=(*schedule.stream_load[:number], *schedule.stream_load[number + 1 :]))


def _dumps(schedule: Schedule, unit: str, how: Callable[[Strand], Strand]) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.dump):
        if strand.unit == unit:
            yield replace(schedule, dump=(*schedule.dump[:number], how(strand), *schedule.dump[number + 1 :]))


@_fault
def lanes_dumped_in_another_order(schedule: Schedule) -> Iterator[Schedule]:
    def wrong(strand: Strand) -> Strand:
        lanes, operation = schedule.template.lanes, strand.body[0]
        ends = {name: Address(base=lanes - 1 + n, strides=(-1,)) for n, name in enumerate(("low", "high"))}
        return replace(strand, body=(_moved(operation, ends),))

    if schedule.template.lanes > 1:
        yield from _dumps(schedule, "lane_issue", wrong)


@_fault
def another_memory_dumped(schedule: Schedule) -> Iterator[Schedule]:
    def wrong(strand: Strand) -> Strand:
        operation = strand.body[0]
        addresses = {**operation.addresses, "interim": operation.addresses["model"]}
        return replace(strand, body=(replace(operation, addresses=addresses).with_fields(a="interim"),))

    yield from _dumps(schedule, "lane_issue", wrong)


@_fault
def a_strand_of_the_dump_twice_at_once(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.dump):
        yield replace(schedule, dump=(*schedule.dump[:number], strand, *schedule.dump[number:]))


# ---- time


def _late(schedule: Schedule, unit: str, step: int) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if strand.unit == unit and strand.start + step >= 0:
            yield with_strand(schedule, number, strand.at(strand.start + step))


@_fault
def lanes_one_cycle_late(schedule: Schedule) -> Iterator[Schedule]:
    yield from _late(schedule, "lane_issue", 1)


@_fault
def the_root_one_cycle_early(schedule: Schedule) -> Iterator[Schedule]:
    yield from _late(schedule, "root_issue", -1)


@_fault
def a_write_one_cycle_late(schedule: Schedule) -> Iterator[Schedule]:
    for unit in ("lane_write", "root_write"):
        yield from _late(schedule, unit, 1)


@_fault
def a_wrong_interval(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if strand.iterations * len(strand.body) > 1:
            yield with_strand(schedule, number, replace(strand, interval=strand.interval + 1))

"""Faults of what is counted, of what leaves, of the stream and the dump, and of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Address, Operation, Strand
from tests.schedule.planted.changes import (
    fault,
    fields,
    moved,
    operations,
    rounded,
    shifted,
    true_product,
    with_operation,
    with_strand,
    writes_memory,
)

# ---- what is counted and what leaves


@fault
def overflows_not_counted(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        if operation.field("emit") and rounded(operation):
            yield with_operation(schedule, number, slot, operation.with_fields(emit=0))


@fault
def overflows_of_a_shifted_word_not_counted(schedule: Schedule) -> Iterator[Schedule]:
    """An integer becomes a real word by a shift alone, and may leave the range of words there."""
    for number, slot, _, operation in operations(schedule, "lane_issue", "root_issue"):
        shifted = schedule.shifts[int(operation.field("shift"))] != 0
        alone = operation.field("a", "zero") != "zero" and operation.field("b", "one") in ("one", 0)
        if shifted and alone and operation.field("base", "zero") == "zero" and operation.field("emit"):
            yield with_operation(schedule, number, slot, operation.with_fields(emit=0))


@fault
def overflows_of_parts_counted(schedule: Schedule) -> Iterator[Schedule]:
    """Lanes count overflows of their parts of a sum that only the root rounds."""
    for number, slot, _, operation in operations(schedule, "lane_issue"):
        if operation.field("up") and true_product(operation):
            yield with_operation(schedule, number, slot, operation.with_fields(emit=1))


@fault
def an_update_not_marked(schedule: Schedule) -> Iterator[Schedule]:
    for unit in ("lane_write", "root_write"):
        yield from fields(schedule, unit, "model", 1, 0)


@fault
def a_mark_on_what_is_no_update(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, _, operation in operations(schedule, "lane_write", "root_write"):
        if writes_memory(operation) and not operation.field("model"):
            yield with_operation(schedule, number, slot, operation.with_fields(model=1))


@fault
def an_output_missing(schedule: Schedule) -> Iterator[Schedule]:
    for number, slot, strand, operation in operations(schedule, "root_write"):
        if operation.field("to_output"):
            silent = with_operation(schedule, number, slot, operation.with_fields(to_output=0))
            each = schedule.template.roots if schedule.split_results else 1
            yield replace(silent, outputs=schedule.outputs - each * strand.iterations)


@fault
def an_output_too_many(schedule: Schedule) -> Iterator[Schedule]:
    each = schedule.template.roots if schedule.split_results else 1
    for number, slot, strand, operation in operations(schedule, "root_write"):
        if not operation.field("to_output"):
            loud = with_operation(schedule, number, slot, operation.with_fields(to_output=1))
            yield replace(loud, outputs=schedule.outputs + each * strand.iterations)


@fault
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
            yield with_operation(schedule, number, slot, moved(operation, {"c": turned}))


@fault
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


@fault
def a_streamed_place_shifted(schedule: Schedule) -> Iterator[Schedule]:
    yield from _streams(schedule, lambda strand, o: shifted(o, "address", 1), "stream_sample")


@fault
def a_loaded_place_shifted(schedule: Schedule) -> Iterator[Schedule]:
    yield from _streams(schedule, lambda strand, o: shifted(o, "address", 1), "stream_load")


@fault
def another_block_of_lanes(schedule: Schedule) -> Iterator[Schedule]:
    yield from _streams(schedule, lambda strand, o: shifted(o, "block", 1))


@fault
def a_streamed_address_with_another_stride(schedule: Schedule) -> Iterator[Schedule]:
    def wrong(strand: Strand, operation: Operation) -> Operation | None:
        address = operation.addresses["address"]
        if strand.counts[0] < 2:
            return None
        return moved(operation, {"address": replace(address, strides=(-address.strides[0], *address.strides[1:]))})

    yield from _streams(schedule, wrong)


@fault
def words_for_all_lanes_given_to_each_its_own(schedule: Schedule) -> Iterator[Schedule]:
    def wrong(strand: Strand, operation: Operation) -> Operation | None:
        lanes = any(operation.field(f"to_{bank}") for bank in ("data", "model", "interim"))
        return operation.with_fields(all=1 - int(operation.field("all"))) if lanes else None

    if schedule.template.lanes > 1:
        yield from _streams(schedule, wrong)


@fault
def words_for_all_groups_given_to_each_its_own(schedule: Schedule) -> Iterator[Schedule]:
    if schedule.template.roots > 1:
        yield from _streams(schedule, lambda strand, o: o.with_fields(same=1 - int(o.field("same"))))


@fault
def models_loaded_into_another_memory(schedule: Schedule) -> Iterator[Schedule]:
    def wrong(strand: Strand, operation: Operation) -> Operation | None:
        if operation.field("to_model") and not operation.field("to_interim"):
            return operation.with_fields(to_model=0, to_interim=1)
        return None

    yield from _streams(schedule, wrong, "stream_load")


@fault
def a_place_that_is_not_loaded(schedule: Schedule) -> Iterator[Schedule]:
    for number in range(len(schedule.stream_load)):
        yield replace(schedule, stream_load=(*schedule.stream_load[:number], *schedule.stream_load[number + 1 :]))


def _dumps(schedule: Schedule, unit: str, how: Callable[[Strand], Strand]) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.dump):
        if strand.unit == unit:
            yield replace(schedule, dump=(*schedule.dump[:number], how(strand), *schedule.dump[number + 1 :]))


@fault
def lanes_dumped_in_another_order(schedule: Schedule) -> Iterator[Schedule]:
    def wrong(strand: Strand) -> Strand:
        lanes, operation = schedule.template.lanes, strand.body[0]
        ends = {name: Address(base=lanes - 1 + n, strides=(-1,)) for n, name in enumerate(("low", "high"))}
        return replace(strand, body=(moved(operation, ends),))

    if schedule.template.lanes > 1:
        yield from _dumps(schedule, "lane_issue", wrong)


@fault
def another_memory_dumped(schedule: Schedule) -> Iterator[Schedule]:
    def wrong(strand: Strand) -> Strand:
        operation = strand.body[0]
        addresses = {**operation.addresses, "interim": operation.addresses["model"]}
        return replace(strand, body=(replace(operation, addresses=addresses).with_fields(a="interim"),))

    yield from _dumps(schedule, "lane_issue", wrong)


@fault
def a_strand_of_the_dump_twice_at_once(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.dump):
        yield replace(schedule, dump=(*schedule.dump[:number], strand, *schedule.dump[number:]))


# ---- time


def _late(schedule: Schedule, unit: str, step: int) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if strand.unit == unit and strand.start + step >= 0:
            yield with_strand(schedule, number, strand.at(strand.start + step))


@fault
def lanes_one_cycle_late(schedule: Schedule) -> Iterator[Schedule]:
    yield from _late(schedule, "lane_issue", 1)


@fault
def the_root_one_cycle_early(schedule: Schedule) -> Iterator[Schedule]:
    yield from _late(schedule, "root_issue", -1)


@fault
def a_write_one_cycle_late(schedule: Schedule) -> Iterator[Schedule]:
    for unit in ("lane_write", "root_write"):
        yield from _late(schedule, unit, 1)


@fault
def a_wrong_interval(schedule: Schedule) -> Iterator[Schedule]:
    for number, strand in enumerate(schedule.strands):
        if strand.iterations * len(strand.body) > 1:
            yield with_strand(schedule, number, replace(strand, interval=strand.interval + 1))

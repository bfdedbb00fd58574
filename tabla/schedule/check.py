"""The checker: it knows the laws of the machine and the memory map, and nothing of the scheduler.

From the strands alone it collects, in time linear in the operations, when each unit, memory word, the bus and
the function unit are used, and refuses a schedule that breaks a law within a sample or between samples
``period`` apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tabla.mapping.places import Place
from tabla.schedule.schedule import Schedule
from tabla.strands.layout import hollow, is_scratch
from tabla.strands.leaving import words_per_write
from tabla.strands.regions import Region, Regions, ScheduleFault, gathers, reading_generators, writing_generators
from tabla.strands.strand import Strand
from tabla.templates.template import Template, functions, kind_of, timing

Cycles = NDArray[np.int64]
EMPTY: Cycles = np.zeros(0, dtype=np.int64)


def check(schedule: Schedule) -> None:
    """Raise `ScheduleFault` for the first law that is broken."""
    _units(schedule)
    _root_registers(schedule)
    _tree(schedule)
    _bus(schedule)
    _memories(schedule)
    _outputs(schedule)


def _outputs(schedule: Schedule) -> None:
    """A sample's words are as many as the image says, and leave within a period: the queue at the port never grows."""
    writes = _issues(_of(schedule, "root_write"))
    puts = sum(len(at) for strand, slot, at in writes if strand.body[slot].field("to_output"))
    words = puts * words_per_write(schedule.mapped, schedule.template)
    _refuse(words != schedule.outputs, f"a sample puts out {words} words instead of {schedule.outputs}")
    _refuse(words > schedule.period, f"{words} words leave in a period of {schedule.period}")


def _refuse(fault: bool | np.bool_, message: str) -> None:
    if fault:
        raise ScheduleFault(message)


def _units(schedule: Schedule) -> None:
    """Strands of a unit one after the other, and all of a sample within one period."""
    for unit, strands in schedule.units.items():
        for before, after in pairwise(strands):
            _refuse(after.start < before.end, f"{unit}: '{after.comment}' starts before '{before.comment}' ends")
            alone = before.comment != after.comment or before.end != after.start
            _refuse(_goes_on(after) and alone, f"{unit}: '{after.comment}' goes on with a sum that is not its own")
        if strands:
            _refuse(_goes_on(strands[0]), f"{unit}: '{strands[0].comment}' goes on with the sum of another sample")
            span = strands[-1].end - strands[0].start
            _refuse(span > schedule.period, f"{unit} is taken for {span} cycles of a period of {schedule.period}")
    _refuse(schedule.period > schedule.cycles, "the period is longer than the predicted cycles")


def _goes_on(strand: Strand) -> bool:
    """Whether a strand begins with what the accumulator holds."""
    return strand.body[0].field("base") == "accumulator"


def _of(schedule: Schedule, kind: str) -> list[Strand]:
    """The strands of a kind of unit, each once however many sequencers run it."""
    return [s for s in schedule.strands if s.unit == kind]


def _issues(strands: Iterable[Strand]) -> Iterable[tuple[Strand, int, Cycles]]:
    for strand in strands:
        for slot in range(len(strand.body)):
            yield strand, slot, strand.cycles(slot)


class _Shows:
    """Runs of cycles in which the results of one strand show, by their first cycle; and what that strand computes."""

    def __init__(self) -> None:
        self.runs: dict[int, tuple[Cycles, str]] = {}

    def add(self, cycles: Cycles, comment: str) -> None:
        self.runs[int(cycles[0])] = cycles, comment

    def all(self) -> Cycles:
        return np.concatenate([EMPTY, *(cycles for cycles, _ in self.runs.values())])

    def match(self, cycles: Cycles, comment: str) -> bool:
        """Whether these are just the cycles of one strand's results, and what it computes is that."""
        run, made = self.runs.get(int(cycles[0]), (EMPTY, ""))
        return made == comment and np.array_equal(run, cycles)


def _results(strands: Iterable[Strand], after: int, *, counted: bool = False) -> _Shows:
    """When the results of strands show, `after` cycles from the issue that ends each of them.

    `counted`: only results that count as overflows or are compared.
    """
    shows = _Shows()
    for strand, slot, cycles in _issues(strands):
        operation = strand.body[slot]
        if counted and not operation.field("emit", 0) and operation.field("post", "none") == "none":
            continue
        if slot == len(strand.body) - 1:
            shows.add(cycles[strand.last()] + after, strand.comment)
        elif not strand.reduce and strand.body[slot + 1].field("base", "zero") != "accumulator":
            # Nothing is added to it: it is whole.
            shows.add(cycles + after, strand.comment)
    return shows


def _root_registers(schedule: Schedule) -> None:
    """The result and function registers are read in the very cycles in which what is meant shows there."""
    laws = timing()
    units = schedule.units
    root = units["root_issue"]
    result, function = _results(root, laws.result), _Shows()
    by_code = {f.code: f for f in functions().values()}
    for strand in root:
        if code := int(strand.body[-1].field("function", 0)):
            latency = by_code[code].cycles(schedule.format.width, schedule.format.fraction)
            ends = strand.cycles(len(strand.body) - 1)[strand.last()]
            function.add(ends + laws.result + latency, strand.comment)
    shown = np.sort(function.all())
    _refuse((np.diff(shown) == 0).any(), "two function results show in one cycle")
    late = bool(shown.size) and shown[-1] - shown[0] >= schedule.period
    _refuse(late, "a function result may meet one of the next sample")
    for strand, slot, cycles in _issues(root):
        for port in ("a", "b", "c"):
            source = str(strand.body[slot].field(port))
            known = {"result": result, "function": function}.get(source.removeprefix("late_"))
            if known is not None:
                wanted = laws.late_operand if source.startswith("late_") else laws.operand
                bad = ~np.isin(cycles + wanted, known.all())
                _refuse(bad.any(), f"'{strand.comment}' reads a register when nothing shows there")
    _positions(root)
    for strand, slot, cycles in _issues(schedule.units["root_write"]):
        source = str(strand.body[slot].field("source", "result"))
        known = function if source == "function" else result
        _refuse(not known.match(cycles, strand.comment), f"'{strand.comment}' writes a {source} that does not show")
    for unit, strands in units.items():
        if kind_of(unit) == "lane_write":
            # Lanes of several roots round no result that does not count.
            counted = schedule.template.roots > 1
            own = _results(units[unit.replace("write", "issue")], laws.result, counted=counted)
            for strand, slot, cycles in _issues(strands):
                if strand.body[slot].field("source", "result") == "result":
                    shows = own.match(cycles, strand.comment)
                    _refuse(not shows, f"'{strand.comment}' writes a result that does not show")


def _positions(root: Sequence[Strand]) -> None:
    """Operations that gather meet a position that was fetched for what they compute."""
    fetched = [
        (cycles[strand.last()] + timing().held, strand.comment)
        for strand, slot, cycles in _issues(root)
        if strand.body[slot].field("b") == "position"
    ]
    held = np.concatenate([EMPTY, *(cycles for cycles, _ in fetched)])
    order = np.argsort(held, kind="stable")
    owners = np.repeat(np.array([comment for _, comment in fetched]), [len(cycles) for cycles, _ in fetched])[order]
    for strand, slot, cycles in _issues(root):
        if gathers(strand.body[slot], "a"):
            last = np.searchsorted(held[order], cycles, side="right") - 1
            fine = bool(held.size) and bool((last >= 0).all()) and bool((owners[last] == strand.comment).all())
            _refuse(not fine, f"'{strand.comment}' gathers when no position of its own is held")


def _tree(schedule: Schedule) -> None:
    """Root operations that take the tree's words meet the sums that one strand of the lanes has just sent.

    Every sum that is sent is taken, by a group's root or over all groups: as one unit takes them in order, those of
    two samples never meet in the tree.
    """
    own = 1 + schedule.template.tree_levels * timing().tree_level
    late = {"tree": own, "array": own + schedule.template.array_levels * timing().tree_level}
    sums, taken, sent = {base: _Shows() for base in late}, [EMPTY], [EMPTY]
    for strand, slot, cycles in _issues(_of(schedule, "lane_issue")):
        if strand.body[slot].field("up"):
            sent.append(cycles[strand.last()])
            for base, up in late.items():
                sums[base].add(sent[-1] + up, strand.comment)
    found = np.sort(np.concatenate(sent))
    _refuse((np.diff(found) == 0).any(), "two sums meet in the tree")
    for strand, slot, cycles in _issues(_of(schedule, "root_issue")):
        base = str(strand.body[slot].field("base"))
        if base in late:
            used = cycles[strand.first()]
            taken.append(used - late[base])
            _refuse(
                not sums[base].match(used, strand.comment),
                f"'{strand.comment}' takes a sum that is not at the tree's end",
            )
    _refuse(not np.array_equal(found, np.sort(np.concatenate(taken))), "a sum is sent up the tree that nobody takes")


def _bus(schedule: Schedule) -> None:
    """Lanes read the bus only while the word meant for them is there: nothing of the next sample has replaced it."""
    laws = timing()
    arrivals = [EMPTY]
    for strand, slot, cycles in _issues(schedule.units["root_write"]):
        if strand.body[slot].field("to_bus"):
            arrivals.append(cycles + laws.broadcast)
    words = np.sort(np.concatenate(arrivals))
    uses = [EMPTY]
    for strand, slot, cycles in _issues(_of(schedule, "lane_issue")):
        operation = strand.body[slot]
        if "bus" in (operation.field("b"), operation.field("c")):
            uses.append(cycles + laws.operand)
    for strand, slot, cycles in _issues(_of(schedule, "lane_write")):
        if strand.body[slot].field("source") == "bus":
            uses.append(cycles)
            late = ~np.isin(cycles, words)
            _refuse(late.any(), f"'{strand.comment}' takes a word in another cycle than that of its arrival")
    used = np.concatenate(uses)
    if not used.size:
        return
    _refuse(not words.size or used.min() < words[0], "the bus is read before a word is on it")
    # The word a use meets, and the first word of the following sample that could come in between.
    own = words[np.searchsorted(words, used, side="right") - 1]
    for later in range(1, int((words[-1] - words[0]) // schedule.period) + 2):
        moved = words + later * schedule.period
        position = np.searchsorted(moved, used, side="right") - 1
        meets = np.where(position >= 0, moved[np.maximum(position, 0)], own)
        _refuse((meets > own).any(), "a word of the next sample is on the bus too early")


class _Times:
    """First and last cycles at which each address of a region is read and written."""

    def __init__(self, words: int) -> None:
        never, late = np.iinfo(np.int64).min // 4, np.iinfo(np.int64).max // 4
        self.first = {kind: np.full(words, late) for kind in ("read", "write")}
        self.last = {kind: np.full(words, never) for kind in ("read", "write")}

    def add(self, kind: str, at: Cycles, cycles: Cycles) -> None:
        np.minimum.at(self.first[kind], at, cycles)
        np.maximum.at(self.last[kind], at, cycles)


def _memories(schedule: Schedule) -> None:
    """Words are written before they are read, not while they are read, and not replaced before their last read."""
    regions = Regions(schedule.layout)
    precise = _shared_rows(schedule, regions)
    times: dict[tuple[str, int], _Times] = {}
    owners: dict[tuple[str, int], Region] = {}
    for strand, slot, cycles in _issues(schedule.strands):
        operation = strand.body[slot]
        for kind, generators in (("read", reading_generators), ("write", writing_generators)):
            for generator, memory in generators(strand.unit, operation):
                at = strand.values(operation.addresses[generator])
                region = regions.of(memory, int(at.min()))
                _refuse(int(at.max()) >= region.base + region.words, f"'{strand.comment}' leaves {region.key}")
                beside = _beside(schedule.template, strand, region)
                _refuse(beside, f"'{strand.comment}' uses lanes beside those of {region.key[0][0]}")
                key = (memory, region.base)
                owners[key] = region
                row, when = at - region.base, cycles
                if kind == "read" and gathers(operation, generator):
                    row, when = _anywhere(region, cycles)
                if key in precise:
                    row, when = _per_lane(schedule.template, strand, slot, row, cycles)
                words = region.words * (schedule.template.lanes if key in precise else 1)
                times.setdefault(key, _Times(words)).add(kind, row, when)
    zeros = hollow(schedule.mapped)
    for key, t in times.items():
        _region(schedule, owners[key], t, zeros)


def _beside(template: Template, strand: Strand, region: Region) -> bool:
    """Whether a strand runs in lanes that are not a spread place's: there the address means nothing."""
    span, each = region.key[0][1].span, template.lanes_per_sequencer
    if not span.lanes:
        return False
    own = range(span.first // each, (span.first + span.lanes) // each)
    return not strand.sequencers or any(s not in own for s in strand.sequencers)


def _anywhere(region: Region, cycles: Cycles) -> tuple[Cycles, Cycles]:
    """Every word of a region, in the first and in the last cycle."""
    rows = np.arange(region.words, dtype=np.int64)
    return np.tile(rows, 2), np.repeat(cycles[[0, -1]], region.words)


def _shared_rows(schedule: Schedule, regions: Regions) -> frozenset[tuple[str, int]]:
    """Lane memories that several strands write: their rows are shared, so lanes must be told apart."""
    writers: dict[tuple[str, int], int] = {}
    for strand in _of(schedule, "lane_write"):
        for operation in strand.body:
            for generator, memory in writing_generators("lane_write", operation):
                region = regions.of(memory, int(strand.values(operation.addresses[generator]).min()))
                writers[(memory, region.base)] = writers.get((memory, region.base), 0) + 1
    return frozenset(key for key, count in writers.items() if count > 1)


def _per_lane(template: Template, strand: Strand, slot: int, rows: Cycles, cycles: Cycles) -> tuple[Cycles, Cycles]:
    """Rows and cycles of each active lane: word ``row * pes + lane``."""
    addresses, pes = strand.body[slot].addresses, template.lanes
    lanes = np.arange(pes, dtype=np.int64)
    if strand.sequencers:
        lanes = lanes[np.isin(lanes // template.lanes_per_sequencer, strand.sequencers)]
    low, high = strand.values(addresses["low"])[:, None], strand.values(addresses["high"])[:, None]
    active = (low <= lanes) & (lanes < high)
    words = rows[:, None] * pes + lanes
    return words[active], np.broadcast_to(cycles[:, None], active.shape)[active]


def _region(schedule: Schedule, region: Region, t: _Times, zeros: frozenset[str]) -> None:
    (tensor, spot), _ = region.key
    name = f"{tensor} at {spot}"
    model = tensor in schedule.graph.updates and schedule.mapping.homes[tensor] == spot
    place: Place | None = schedule.layout.places.get((tensor, spot))
    read, written = t.last["read"] >= 0, t.last["write"] >= 0
    both = read & written
    role = schedule.layout.graph.tensors[tensor].role
    if role in ("input", "label") and place is not None and place.banks == ("data",) and not region.key[1]:
        _refuse(written.any(), f"{name} belongs to the stream")
        ready = schedule.release - timing().front
        _refuse(bool(read.any()) and int(t.last["read"].max()) >= ready, f"{name} is read after its slot is free")
        return
    if model:
        _refuse((t.last["read"][both] >= t.first["write"][both]).any(), f"{name} is overwritten before its last read")
        gap = t.last["write"][both] + 1 - t.first["read"][both]
        _refuse(bool(both.any()) and int(gap.max()) > schedule.period, f"{name} is not updated in time")
        return
    loaded = tensor in zeros
    if not written.any() and (role == "constant" or (role == "model" and tensor not in schedule.graph.updates)):
        return
    if not is_scratch(spot):
        _refuse((read & ~written).any() and not loaded, f"{name} is read where nothing was written")
        _refuse((t.first["read"][both] <= t.last["write"][both]).any(), f"{name} is read before it is written")
    gap = np.maximum(t.last["read"], t.last["write"])[written] + 1 - t.first["write"][written]
    early = bool(gap.size) and int(gap.max()) > schedule.period
    _refuse(early, f"{name} is overwritten by the next sample before its last read")

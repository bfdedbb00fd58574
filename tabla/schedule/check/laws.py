"""The laws of time of units, function unit, tree, bus and port, within a sample and between samples
``initiation_interval`` apart.

What is looked at are strands and cycles: neither values nor what a strand is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.leaving import words_per_write
from tabla.schedule.strands.regions import refuse
from tabla.schedule.strands.strand import Strand, by_unit
from tabla.templates.template import functions, timing

Cycles = NDArray[np.int64]
EMPTY: Cycles = np.zeros(0, dtype=np.int64)


def check_laws(schedule: Schedule) -> None:
    """Raise `ScheduleFault` for the first law that is broken."""
    _units(schedule)
    _in_turn(by_unit(schedule.dump, schedule.template.sequencers))
    _windows(schedule)
    _function_unit(schedule)
    _tree(schedule)
    _bus(schedule)
    _outputs(schedule)
    if schedule.stages > 1:
        _kept_positions(schedule)


def _kept_positions(schedule: Schedule) -> None:
    """The register that keeps a position serves one sample at a time, so samples do not overlap beside it."""
    for strand, slot, _ in _issues(schedule.units["root_issue"]):
        refuse(strand.body[slot].field("b") == "position", f"'{strand.comment}' keeps a position beside other samples")


def _outputs(schedule: Schedule) -> None:
    """A sample's words are as many as the image says, and leave within an initiation interval: the queue at the port
    never grows.

    The words of a write leave in whole beats, and no beat is wider than those of the stream that the user asked for.
    """
    writes = list(_issues(_of(schedule, "root_write")))
    puts = sum(len(at) for strand, slot, at in writes if strand.body[slot].field("to_output"))
    each, beat = words_per_write(schedule.mapped, schedule.template), schedule.port_words
    words = puts * each
    refuse(words != schedule.outputs, f"a sample puts out {words} words instead of {schedule.outputs}")
    refuse(beat < 1 or each % beat > 0, f"{each} words of a write do not leave in whole beats of {beat}")
    refuse(beat > max(1, schedule.template.stream_words), f"beats of {beat} words leave, which nobody asked for")
    many = "words" if beat == 1 else f"beats of {beat} words"
    refuse(
        words // beat > schedule.initiation_interval,
        f"{words // beat} {many} leave in a period of {schedule.initiation_interval}",
    )
    cycles = [at for strand, slot, at in writes if strand.body[slot].field("to_output")]
    if schedule.stages > 1 and cycles:
        span = max(int(at[-1]) for at in cycles) + 1 - min(int(at[0]) for at in cycles)
        late = span > schedule.initiation_interval
        refuse(late, f"words of a sample leave over {span} cycles of a period of {schedule.initiation_interval}")


def _in_turn(units: Mapping[str, Sequence[Strand]]) -> None:
    """The strands of a unit follow each other, and one that goes on with a sum follows at once."""
    for unit, strands in units.items():
        for before, after in pairwise(strands):
            refuse(after.start < before.end, f"{unit}: '{after.comment}' starts before '{before.comment}' ends")
            late = before.end != after.start
            refuse(_goes_on(after) and late, f"{unit}: '{after.comment}' goes on with a sum that is not its own")
        if strands:
            refuse(_goes_on(strands[0]), f"{unit}: '{strands[0].comment}' goes on with the sum of another sample")


def _windows(schedule: Schedule) -> None:
    """The window of a sample moves addresses of memories only; guards and blocks are the same in all samples."""
    for strand in (*schedule.strands, *schedule.dump, *schedule.stream_sample, *schedule.stream_load):
        for operation in strand.body:
            for name in ("low", "high", "block"):
                moved = name in operation.addresses and operation.addresses[name].window
                refuse(moved, f"'{strand.comment}' adds the window of the sample to '{name}'")


def _units(schedule: Schedule) -> None:
    """Strands of a unit one after the other, and all of a sample within one initiation interval.

    If samples overlap, the strands of all samples come one after the other, and a sample is done within as many
    intervals as there are stages.
    """
    _in_turn(schedule.units)
    interval, stages = schedule.initiation_interval, schedule.stages
    for unit, strands in schedule.units.items():
        if strands:
            span = strands[-1].end - strands[0].start
            allowed = interval * stages
            refuse(span > allowed, f"{unit} is taken for {span} cycles of a period of {allowed}")
            if stages > 1:
                _in_turns_of_samples(unit, strands, interval)
    refuse(interval > schedule.cycles, "the period is longer than the predicted cycles")


def _in_turns_of_samples(unit: str, strands: Sequence[Strand], interval: int) -> None:
    """The strands of a unit follow each other in every frame, whatever sample they are of."""
    first = strands[0].start
    frame = sorted(((s.start - first) % interval, s.length, s.comment) for s in strands)
    for (start, length, name), (following, _, other) in pairwise([*frame, (interval, 0, "the next frame")]):
        refuse(start + length > following, f"{unit}: '{other}' begins before '{name}' of another sample ends")


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


def _function_unit(schedule: Schedule) -> None:
    """One value ends in a cycle, and none of a sample meets one of the next."""
    laws, shown = timing(), [EMPTY]
    by_code = {f.code: f for f in functions().values()}
    for strand, slot, cycles in _issues(schedule.units["root_issue"]):
        if code := int(strand.body[slot].field("function", 0)):
            latency = by_code[code].cycles(schedule.format.width, schedule.format.fraction)
            shown.append(cycles[strand.last()] + laws.result + latency)
    ends = np.sort(np.concatenate(shown))
    refuse((np.diff(ends) == 0).any(), "two function results show in one cycle")
    interval, stages = schedule.initiation_interval, schedule.stages
    late = bool(ends.size) and ends[-1] - ends[0] >= interval * stages
    refuse(late or len(np.unique(ends % interval)) < len(ends), "a function result may meet one of the next sample")


def _tree(schedule: Schedule) -> None:
    """Two sums never meet in the tree, and every sum that is sent is taken, by a group's root or over all groups.

    As one unit takes them in order, sums of two samples never meet either, unless samples overlap.
    """
    own = 1 + schedule.template.tree_levels * timing().tree_level
    late = {"tree": own, "array": own + schedule.template.array_levels * timing().tree_level}
    taken, sent = [EMPTY], [EMPTY]
    for strand, slot, cycles in _issues(_of(schedule, "lane_issue")):
        if strand.body[slot].field("up"):
            sent.append(cycles[strand.last()])
    found = np.sort(np.concatenate(sent))
    phases = found if schedule.stages == 1 else np.sort(found % schedule.initiation_interval)
    refuse((np.diff(phases) == 0).any(), "two sums meet in the tree")
    for strand, slot, cycles in _issues(_of(schedule, "root_issue")):
        base = str(strand.body[slot].field("base"))
        if base in late:
            taken.append(cycles[strand.first()] - late[base])
            there = np.isin(taken[-1], found).all()
            refuse(not there, f"'{strand.comment}' takes a sum that is not at the tree's end")
    refuse(not np.array_equal(found, np.sort(np.concatenate(taken))), "a sum is sent up the tree that nobody takes")


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
            refuse(late.any(), f"'{strand.comment}' takes a word in another cycle than that of its arrival")
    used = np.concatenate(uses)
    if not used.size:
        return
    refuse(not words.size or used.min() < words[0], "the bus is read before a word is on it")
    # A sample that begins so late that it need not keep to whole intervals disturbs with its first word before others.
    interval = schedule.initiation_interval
    early = "a word of the next sample is on the bus too early"
    refuse(used.max() >= words[0] + interval * schedule.stages, early)
    if schedule.stages == 1:
        # By `_units` the words of a sample lie within an initiation interval.
        return
    phases = np.sort(words % interval)
    refuse((np.diff(phases) == 0).any(), "words of two samples come to the bus in one cycle")
    own = used - words[np.searchsorted(words, used, side="right") - 1]
    # How long ago any sample brought a word: the last one of this frame, or else the last one of the frame before.
    latest = np.searchsorted(phases, used % interval, side="right") - 1
    ago = used % interval - phases[latest] + np.where(latest < 0, interval, 0)
    refuse((own > ago).any(), early)

"""Unrolls strands into single issues: what each unit does in each cycle of a sample.

Control is the same for every sample, so it is unrolled only once. Samples differ in the offsets of their windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabla.program.image import Entry, Image, StreamEntry
from tabla.sim.model.faults import MachineFault
from tabla.sim.model.microcode import Generator, Operation, Strand, decode_strands
from tabla.templates.instructions import kind_of
from tabla.templates.template import timing

Integers = npt.NDArray[np.int64]
ORDER = {"lane_issue": 0, "root_issue": 1, "lane_write": 2, "root_write": 3}
"""The order of the kinds of units within a cycle: reads come before writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One operation in one cycle.

    `cycle` counts from the sample's token and includes the cycles of the front (``front`` in the records) and the
    unit's skew. `kind` is the unit's name without the number of its `sequencer`. `values` has the generators' values
    before the offset of the window is added. The product counts only if `gate_open` is set.
    """

    unit: str
    kind: str
    sequencer: int
    cycle: int
    operation: Operation
    first: bool
    last: bool
    gate_open: bool
    values: dict[str, int]


def counters(counts: tuple[int, ...]) -> Integers:
    """Return the loop counters in order of issue: shape [iterations, levels], the innermost level first."""
    total = int(np.prod(counts, dtype=np.int64)) if counts else 1
    steps = np.arange(total, dtype=np.int64)
    columns = []
    for count in counts:
        columns.append(steps % count)
        steps = steps // count
    return np.stack(columns, axis=1) if columns else np.zeros((total, 0), dtype=np.int64)


def generator_values(generator: Generator, loop: Integers) -> list[int]:
    """Return a generator's value in each iteration: deltas are added as in the hardware and wrap to its width."""
    iterations, levels = loop.shape
    if iterations == 1 or not any(generator.deltas):
        return [generator.base] * iterations
    # The level that steps is the innermost one that did not just wrap to zero.
    stepping = np.argmax(loop[1:] != 0, axis=1) if levels else np.zeros(iterations - 1, dtype=np.int64)
    added = np.concatenate([[0], np.cumsum(np.array(generator.deltas, dtype=np.int64)[stepping])])
    values = (generator.base + added) & ((1 << generator.bits) - 1)
    if generator.signed:
        values = values - ((values >> (generator.bits - 1)) << generator.bits)
    return [int(v) for v in values]


def _unroll(strand: Strand, unit: str, origin: int) -> Iterator[Issue]:
    loop = counters(strand.counts)
    final = np.array(strand.counts, dtype=np.int64) - 1
    first = (loop[:, : strand.reduce] == 0).all(axis=1)
    last = (loop[:, : strand.reduce] == final[: strand.reduce]).all(axis=1)
    length, kind = len(strand.body), kind_of(unit)
    sequencer = int(unit.removeprefix(f"{kind}_")) if unit != kind else 0
    tables = [{name: generator_values(g, loop) for name, g in op.generators.items()} for op in strand.body]
    gates = [(loop[:, : op.numbers.get("gate", 0)] == 0).all(axis=1) for op in strand.body]
    for iteration in range(strand.iterations):
        for slot, operation in enumerate(strand.body):
            yield Issue(
                unit=unit,
                kind=kind,
                sequencer=sequencer,
                cycle=origin + strand.start + (iteration * length + slot) * strand.interval,
                operation=operation,
                first=bool(first[iteration]),
                last=bool(last[iteration]),
                gate_open=bool(gates[slot][iteration]),
                values={name: table[iteration] for name, table in tables[slot].items()},
            )


def unit_trace(image: Image, entry: Entry, unit: str) -> list[Issue]:
    """Return all issues of a unit for one sample, in order.

    Strands that overlap in time raise MachineFault, be it inside the sample or with the first strand of the next
    sample, whose token may come `period` cycles later.
    """
    origin = timing().front + entry.skew[unit]
    strands = decode_strands(image, unit, entry.begin[unit], entry.strands[unit])
    issues: list[Issue] = []
    free = None
    for number, strand in enumerate(strands):
        if strand.interval < 1:
            raise MachineFault(f"strand {number} of {unit} has interval 0")
        if free is not None and strand.start < free:
            raise MachineFault(
                f"strand {number} of {unit} starts in cycle {strand.start}, but the one before it runs until {free}"
            )
        free = strand.start + strand.cycles
        issues.extend(_unroll(strand, unit, origin))
    if free is not None and strands[0].start + entry.period < free:
        raise MachineFault(
            f"{unit} is busy for {free - strands[0].start} cycles of a sample, but the next token may come "
            f"after {entry.period}"
        )
    return issues


def sample_trace(image: Image, entry: Entry) -> list[Issue]:
    """Return all issues of one sample in the order of their cycles; within a cycle reads come before writes."""
    issues = [issue for unit in image.units for issue in unit_trace(image, entry, unit)]
    # A write of cycle c is seen from c + 1 on, so the two issue units go first.
    return sorted(issues, key=lambda issue: (issue.cycle, ORDER[issue.kind]))


def stream_trace(image: Image, entry: StreamEntry) -> list[Issue]:
    """Return one issue for each beat of a sample, in order; its `cycle` is the number of the beat."""
    beats: list[Issue] = []
    for strand in decode_strands(image, "stream", entry.begin, entry.strands):
        # Start and interval mean nothing to the stream: a beat comes when it comes.
        plain = Strand(start=len(beats), interval=1, reduce=0, counts=strand.counts, body=strand.body)
        beats.extend(_unroll(plain, "stream", 0))
    if len(beats) != entry.beats:
        raise MachineFault(f"the stream program takes {len(beats)} beats, the image says {entry.beats}")
    return beats

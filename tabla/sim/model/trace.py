"""Unrolls strands into single issues: what each unit does in each cycle of a sample.

Control is the same for every sample, so it is unrolled only once. Samples differ in the offsets of their windows.

The cycle model has its own reader of microcode words. It takes the order of fields, their codes and the generators from
the TableGen records, and the widths of words from the image's parameters. It shares no code with the assembler, so that
a fault of either shows as a difference between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabla.program.image import Entry, Image, Parameters, StreamEntry
from tabla.sim.model.faults import MachineFault
from tabla.templates.instructions import kind_of, operation_format, overlapping_strand_fields, strand_fields
from tabla.templates.template import timing

REDUCE_BITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """The generator of an address or of a bound on lanes.

    It begins with `base` and adds `deltas[l]` when loop level l steps; level 0 is the innermost. Its values have `bits`
    bits and wrap, as signed numbers if `signed` is set. If `window` is set, the sample's offset is added to them.
    """

    base: int
    window: bool
    deltas: tuple[int, ...]
    bits: int
    signed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation word, taken apart.

    Fields for which the record has a list of choices are in `symbols`, all others in `numbers`.
    """

    symbols: dict[str, str]
    numbers: dict[str, int]
    generators: dict[str, Generator]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strand:
    """One strand word with the operations of its body; `counts` has the iterations of each level, innermost first.

    The strand runs after the `stage`-th token behind that of its sample, `start` cycles after the unit's first strand.
    """

    start: int
    interval: int
    reduce: int
    counts: tuple[int, ...]
    body: tuple[Operation, ...]
    stage: int = 0

    @property
    def iterations(self) -> int:
        """How often the body is issued: the product of all counts."""
        total = 1
        for count in self.counts:
            total *= count
        return total

    @property
    def cycles(self) -> int:
        """The cycles from the first issue up to the cycle after the last one, in which the unit is free again."""
        return (self.iterations * len(self.body) - 1) * self.interval + 1


class _Bits:
    """Takes fields from a word, beginning with the least significant bits."""

    def __init__(self, word: int) -> None:
        self._word = word

    def take(self, width: int) -> int:
        value = self._word & ((1 << width) - 1)
        self._word >>= width
        return value

    def finish(self, what: str) -> None:
        if self._word:
            raise ValueError(f"{what} has bits beyond its last field")


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _generator(bits: _Bits, name: str, unit: str, parameters: Parameters) -> Generator:
    signed = name in ("low", "high")
    if signed:
        width = parameters.guard_bits
    else:
        width = parameters.block_bits if name == "block" else parameters.address_bits[unit]
    base = bits.take(width)
    window = bool(bits.take(1))
    deltas = tuple(bits.take(width) for _ in range(parameters.levels))
    return Generator(
        base=_signed(base, width) if signed else base, window=window, deltas=deltas, bits=width, signed=signed
    )


def decode_operation(word: int, unit: str, parameters: Parameters) -> Operation:
    """Read an operation word of `unit`; raise ValueError for a code without a symbol or bits beyond the last field."""
    form = operation_format(unit)
    bits = _Bits(word)
    width = sum(field.width for field in form.fields)
    instruction = bits.take(width)
    symbols: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for field in form.fields:
        value = (instruction >> field.offset) & ((1 << field.width) - 1)
        if not field.choices:
            numbers[field.name] = value
        elif value < len(field.choices):
            symbols[field.name] = field.choices[value]
        else:
            raise ValueError(f"field '{field.name}' of {unit} has no symbol for code {value}")
    generators = {name: _generator(bits, name, unit, parameters) for name in form.generators}
    numbers |= {name: bits.take(1) for name in form.several}
    if parameters.model_guard:
        numbers |= {name: bits.take(1) for name in form.wide_models}
    if parameters.predicts:
        numbers |= {name: bits.take(1) for name in form.predicting}
    if parameters.scatters:
        numbers |= {name: bits.take(1) for name in form.scattering}
    if parameters.far_shift_bits and form.far:
        near = next(field.width for field in form.fields if field.name == "shift")
        numbers["shift"] |= bits.take(parameters.far_shift_bits) << near
    bits.finish(f"operation word {word:#x} of {unit}")
    return Operation(symbols=symbols, numbers=numbers, generators=generators)


def decode_strand(word: int, unit: str, image: Image) -> Strand:
    """Read a strand word of `unit` and its body; raise ValueError when the body is not in the operation memory."""
    parameters = image.parameters
    widths = {
        "start": parameters.start_bits,
        "interval": parameters.interval_bits,
        "reduce": REDUCE_BITS,
        "body": max(1, (parameters.operation_depth[unit] - 1).bit_length()),
        "length": parameters.body.bit_length(),
    }
    bits = _Bits(word)
    fields = {name: bits.take(widths[name]) for name in strand_fields()}
    counts = tuple(bits.take(parameters.count_bits) + 1 for _ in range(parameters.levels))
    if parameters.stages > 1 and unit != "stream":
        fields |= {name: bits.take(parameters.stage_bits) for name in overlapping_strand_fields()}
    bits.finish(f"strand word {word:#x} of {unit}")
    words = image.operations[unit][fields["body"] : fields["body"] + fields["length"]]
    if len(words) != fields["length"] or not words:
        raise ValueError(f"a strand of {unit} has its body outside the operation memory")
    return Strand(
        start=fields["start"],
        interval=fields["interval"],
        reduce=fields["reduce"],
        counts=counts,
        body=tuple(decode_operation(w, unit, parameters) for w in words),
        stage=fields.get("stage", 0),
    )


def decode_strands(image: Image, unit: str, begin: int, strands: int) -> tuple[Strand, ...]:
    """Read the strands [begin, begin + strands) of a unit; raise ValueError when they are not in the memory."""
    words = image.strands[unit][begin : begin + strands]
    if len(words) != strands:
        raise ValueError(f"the program of {unit} lies outside its strand memory")
    return tuple(decode_strand(w, unit, image) for w in words)


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

    Strands that overlap in time raise MachineFault, be it inside the frame of a token or with the first strand of the
    next one, which may come `period` cycles later. The order of the issues is that of a frame. A strand of a later
    stage issues whole periods later.
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
        issues.extend(_unroll(strand, unit, origin + strand.stage * entry.period))
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

"""A tiny assembler for hand-written images; it knows nothing of ``tabla.program`` but the image's shape.

Generators are given as (base, stride of the innermost level, of the next, ...); counts innermost first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tabla.program.image import UNITS, Entry, FunctionTable, Image, Parameters, StreamEntry
from tabla.templates.instructions import operation_format, strand_fields
from tabla.templates.template import functions

ALL = (0, 1 << 7)  # low, high of an operation that every lane does


@dataclass(frozen=True, kw_only=True)
class Op:
    """One operation: fields by symbol or number; generators by base and strides, windowed if named in `windows`."""

    fields: Mapping[str, Any]
    generators: Mapping[str, Sequence[int]] = field(default_factory=dict)
    windows: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Nest:
    """A strand; `counts` and strides innermost first."""

    start: int = 0
    interval: int = 1
    counts: Sequence[int] = ()
    reduce: int = 0
    body: Sequence[Op] = ()


def op(windows: Sequence[str] = (), generators: Mapping[str, Sequence[int]] | None = None, **fields: Any) -> Op:
    """An operation; a field of a Python keyword's name gets a trailing underscore."""
    return Op(fields={k.rstrip("_"): v for k, v in fields.items()}, generators=generators or {}, windows=windows)


def lane(
    *,
    model: Sequence[int] = (0,),
    data: Sequence[int] = (0,),
    interim: Sequence[int] = (0,),
    low: Sequence[int] = (0,),
    high: Sequence[int] = (127,),
    windows: Sequence[str] = (),
    **fields: Any,
) -> Op:
    """A lane issue."""
    return op(windows, {"model": model, "data": data, "interim": interim, "low": low, "high": high}, **fields)


def lane_write(
    *, address: Sequence[int] = (0,), low: Sequence[int] = (0,), high: Sequence[int] = (127,), **fields: Any
) -> Op:
    """A lane write."""
    return op((), {"address": address, "low": low, "high": high}, **fields)


def root(
    *,
    at_a: Sequence[int] = (0,),
    at_b: Sequence[int] = (0,),
    at_c: Sequence[int] = (0,),
    windows: Sequence[str] = (),
    **fields: Any,
) -> Op:
    """A root issue."""
    return op(windows, {"a": at_a, "b": at_b, "c": at_c}, **fields)


def root_write(*, address: Sequence[int] = (0,), **fields: Any) -> Op:
    """A root write."""
    return op((), {"address": address}, **fields)


def stream(
    *, address: Sequence[int] = (0,), block: Sequence[int] = (0,), windows: Sequence[str] = (), **fields: Any
) -> Op:
    """What becomes of a beat."""
    return op(windows, {"address": address, "block": block}, **fields)


LEVELS = 3
BODY = 4
DEPTH = 32


def parameters(pes: int = 2, *, width: int = 16, fraction: int = 10, **changes: Any) -> Parameters:
    """A build with depths of 32 words, three loop levels, shifts (0, F, F+4, 1)."""
    per_pu = changes.pop("pes_per_pu", pes)
    plain = Parameters(
        name="test",
        pes=pes,
        pes_per_pu=per_pu,
        width=width,
        fraction=fraction,
        accumulator=2 * width + 12,
        shifts=(0, fraction, fraction + 4, 1),
        stream_words=min(2, pes),
        ring_slots=2,
        model_depth=DEPTH,
        data_depth=DEPTH,
        interim_depth=DEPTH,
        root_data_depth=DEPTH,
        root_memory_depth=DEPTH,
        output_depth=64,
        levels=LEVELS,
        body=BODY,
        start_bits=12,
        interval_bits=5,
        count_bits=8,
        address_bits=dict.fromkeys((*UNITS, "stream"), 5),
        guard_bits=9,
        block_bits=8,
        strand_depth=dict.fromkeys((*UNITS, "stream"), 16),
        operation_depth=dict.fromkeys((*UNITS, "stream"), 32),
    )
    return replace(plain, **changes)


def _generator_bits(unit: str, name: str, build: Parameters) -> int:
    if name in ("low", "high"):
        return build.guard_bits
    return build.block_bits if name == "block" else build.address_bits[unit]


class _Word:
    def __init__(self) -> None:
        self.value, self.width = 0, 0

    def put(self, value: int, width: int) -> None:
        self.value |= (value & ((1 << width) - 1)) << self.width
        self.width += width


def operation_word(unit: str, operation: Op, counts: Sequence[int], build: Parameters) -> int:
    """The microcode word of an operation inside loops of `counts`."""
    form = operation_format(unit)
    word = _Word()
    instruction = 0
    for part in form.fields:
        value = operation.fields.get(part.name, 0)
        instruction |= (part.choices.index(value) if isinstance(value, str) else int(value)) << part.offset
    word.put(instruction, sum(part.width for part in form.fields))
    behind = (*(form.predicting if build.predicts else ()), *(form.scattering if build.scatters else ()))
    assert set(operation.fields) <= {*(part.name for part in form.fields), *behind}, operation.fields
    for name in form.generators:
        base, *strides = operation.generators.get(name, (0,))
        bits = _generator_bits(unit, name, build)
        word.put(base, bits)
        word.put(int(name in operation.windows), 1)
        strides += [0] * (build.levels - len(strides))
        passed = 0
        for level in range(build.levels):
            word.put(strides[level] - passed, bits)
            passed += strides[level] * ((counts[level] if level < len(counts) else 1) - 1)
    for name in behind:
        word.put(int(operation.fields.get(name, 0)), 1)
    return word.value


def strand_word(unit: str, nest: Nest, body: int, build: Parameters) -> int:
    """The microcode word of a strand whose body begins at operation word `body`."""
    widths = {
        "start": build.start_bits,
        "interval": build.interval_bits,
        "reduce": 3,
        "body": max(1, (build.operation_depth[unit] - 1).bit_length()),
        "length": build.body.bit_length(),
    }
    values = {
        "start": nest.start,
        "interval": nest.interval,
        "reduce": nest.reduce,
        "body": body,
        "length": len(nest.body),
    }
    word = _Word()
    for name in strand_fields():
        word.put(values[name], widths[name])
    for level in range(build.levels):
        word.put((nest.counts[level] if level < len(nest.counts) else 1) - 1, build.count_bits)
    return word.value


def dump_nests(build: Parameters) -> dict[str, list[Nest]]:
    """Word n of each lane's model memory, lane by lane, then root memory word n: the words of all roots each time."""
    lanes, tree, pace = build.lanes, tree_levels(build), build.roots
    shift = build.shifts.index(build.fraction)
    one_lane = lane(a="model", b="one", shift=shift, low=(0, 1), high=(1, 1), windows=("model",))
    issue = Nest(counts=(lanes,), interval=pace, body=[one_lane])
    from_tree = root(a="zero", base="tree", shift=shift)
    word = root(c="memory", base="addend", windows=("c",))
    first = 1 + tree
    return {
        "lane_issue": [issue],
        "root_issue": [
            Nest(start=first, counts=(lanes,), interval=pace, body=[from_tree]),
            Nest(start=first + lanes * pace, body=[word]),
        ],
        "root_write": [Nest(start=first + 7, counts=(lanes + 1,), interval=pace, body=[root_write(to_output=1)])],
    }


def tree_levels(build: Parameters) -> int:
    """Registers of the tree of one root."""
    if build.roots > 1:
        return (build.lanes - 1).bit_length()
    pus = build.pes // build.pes_per_pu
    return (build.pes_per_pu - 1).bit_length() + (pus - 1).bit_length()


def table(name: str, build: Parameters, **fields: Any) -> FunctionTable:
    """A function of the build, with the records' code and latency."""
    unit = functions()[name]
    return FunctionTable(
        name=name,
        code=unit.code,
        kind=unit.kind,
        latency=unit.cycles(build.width, build.fraction),
        **fields,
    )


def assemble(
    build: Parameters,
    run: Mapping[str, Sequence[Nest]],
    *,
    period: int,
    load: Sequence[Nest] = (),
    samples: Sequence[Nest] = (),
    release: int | None = None,
    data_window: int = 0,
    root_data_window: int = 0,
    skew: Mapping[str, int] | None = None,
) -> Image:
    """An image whose strand starts are absolute here and stored minus `skew`; outputs and beats are counted."""
    skews = {unit: (skew or {}).get(unit, 0) for unit in UNITS}
    strands: dict[str, list[int]] = {unit: [] for unit in (*UNITS, "stream")}
    operations: dict[str, list[int]] = {unit: [] for unit in (*UNITS, "stream")}

    def place(unit: str, nests: Sequence[Nest], late: int = 0) -> int:
        begin = len(strands[unit])
        for nest in nests:
            body = len(operations[unit])
            operations[unit] += [operation_word(unit, o, nest.counts, build) for o in nest.body]
            strands[unit].append(strand_word(unit, replace(nest, start=nest.start - late), body, build))
        return begin

    def entry(program: Mapping[str, Sequence[Nest]], period: int, skews: Mapping[str, int], words: int = 1) -> Entry:
        nests = {unit: program.get(unit, ()) for unit in UNITS}
        begin = {unit: place(unit, nests[unit], skews[unit]) for unit in UNITS}
        outputs = sum(size(n.counts) for n in nests["root_write"] for o in n.body if o.fields.get("to_output"))
        ends = [n.start + size(n.counts) * len(n.body) * n.interval for unit in UNITS for n in nests[unit]]
        return Entry(
            period=period,
            skew=skews,
            begin=begin,
            strands={unit: len(nests[unit]) for unit in UNITS},
            outputs=outputs * words,
            drain=max(ends, default=0) + 40,
        )

    def stream_entry(nests: Sequence[Nest]) -> StreamEntry:
        begin = place("stream", nests)
        return StreamEntry(begin=begin, strands=len(nests), beats=sum(size(n.counts) * len(n.body) for n in nests))

    running = entry(run, period, skews)
    dumping = entry(dump_nests(build), 2 * build.pes + 8, dict.fromkeys(UNITS, 0), build.roots)
    return Image(
        parameters=build,
        run=running,
        dump=dumping,
        stream_run=stream_entry(samples),
        stream_load=stream_entry(load),
        release=running.drain if release is None else release,
        data_window=data_window,
        root_data_window=root_data_window,
        strands={unit: tuple(words) for unit, words in strands.items()},
        operations={unit: tuple(words) for unit, words in operations.items()},
    )


def size(counts: Sequence[int]) -> int:
    """Iterations of a nest."""
    total = 1
    for count in counts:
        total *= count
    return total

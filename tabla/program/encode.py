"""The assembler: a schedule becomes microcode words and control constants.

The assembler also chooses which factor of a lane's product is operand `a` and which is `b`. The product is the same in
either order. But each operand has a multiplexer in every lane, which is smaller the fewer memories the operand is ever
read from.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from tabla.base.source import TablaError
from tabla.graph.body import FEW_SHIFTS, MOST_SHIFTS
from tabla.graph.graph import Divide, Function, Graph, Linear, Product
from tabla.graph.predicted_part import PredictedPart
from tabla.program.fit import refuse_features, refuse_misfit, refuse_numbers
from tabla.program.image import USUAL_BLOCKS, Entry, Image, Parameters, Ranges, StreamEntry
from tabla.program.layout import WordLayout, operation_layout, strand_layout
from tabla.program.overlay import Overlay
from tabla.program.sizes import accumulator_bits, address_widths, function_table, sum_bits
from tabla.schedule.placing.needed import in_all_slots
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Address, Operation, Strand, by_unit
from tabla.schedule.strands.streams import beats_of, dump_words
from tabla.templates.instructions import kind_of, operation_format
from tabla.templates.template import functions, timing

# The memories that either operand may read. Each has one address generator, whichever operand reads it.
_EITHER = ("model", "data", "interim")
Pair = tuple[str, str]


def ordered_operands(memories: Mapping[str, Sequence[Strand]]) -> dict[str, list[Strand]]:
    """Return the strands of each unit, with the factors of the lanes ordered so that the multiplexers are small."""
    lanes = {unit for unit in memories if kind_of(unit) == "lane_issue"}
    pairs = {_pair(o) for unit in lanes for s in memories[unit] for o in s.body}
    free = sorted({(min(p), max(p)) for p in pairs if _turns(p)})
    fixed = [p for p in sorted(pairs) if not _turns(p)]
    wanted = min(
        (
            [pair[::-1] if turned else pair for pair, turned in zip(free, turns, strict=True)]
            for turns in _choices(free)
        ),
        key=lambda chosen: _luts([*fixed, *chosen]),
    )
    return {
        unit: [_ordered(s, wanted) for s in strands] if unit in lanes else list(strands)
        for unit, strands in memories.items()
    }


def _choices(free: Sequence[Pair]) -> Iterable[tuple[bool, ...]]:
    return product((False, True), repeat=len(free))


def _pair(operation: Operation) -> Pair:
    return str(operation.field("a", "zero")), str(operation.field("b", "one"))


def _turns(pair: Pair) -> bool:
    return pair[0] != pair[1] and all(source in _EITHER for source in pair)


def _ordered(strand: Strand, wanted: Collection[Pair]) -> Strand:
    body = []
    for operation in strand.body:
        a, b = _pair(operation)
        turn = _turns((a, b)) and (a, b) not in wanted
        body.append(operation.with_fields(a=b, b=a) if turn else operation)
    return replace(strand, body=tuple(body))


def _luts(pairs: Sequence[Pair]) -> int:
    """Return the LUT4 that both multiplexers take for each bit, given the pairs of sources of all products.

    A first LUT4 selects between two sources, and each further one adds one more.
    """
    cost = 0
    for sources in ({a for a, _ in pairs} - {"zero"}, {b for a, b in pairs if a != "zero"} - {"one"}):
        cost += max(1, len(sources) - 1)
    return cost


def encode(schedule: Schedule, overlay: Overlay | None = None) -> Image:
    """Return the image of a schedule: for hardware of its own, or for an overlay.

    Raises `TablaError` if the program needs a shift that the machine does not have, or does not fit the overlay.
    """
    run = schedule.units
    dump = by_unit(schedule.dump, schedule.template.sequencers)
    units = tuple(run)
    memories: dict[str, list[Strand]] = {u: [*run[u], *dump[u]] for u in units}
    memories["stream"] = [*schedule.stream_sample, *schedule.stream_load]
    skew = {u: min((s.start for s in run[u]), default=0) for u in units}
    frames = schedule.frames
    for unit in units:
        # The starts of a sample's strands are stored from the unit's first start on; those of a dump begin at 0.
        own = [f.strand.at(f.start) for f in frames[unit]]
        memories[unit] = [*own, *dump[unit]]
    memories = ordered_operands(memories)
    stages = {u: [*(f.stage for f in frames[u]), *(0 for _ in dump[u])] for u in units}
    stages["stream"] = [0] * len(memories["stream"])
    parameters = _parameters(schedule, memories)
    if overlay is not None:
        parameters = _on_overlay(replace(parameters, accumulator=widest_sum(schedule)), overlay)
    strands, operations = {}, {}
    for unit, held in memories.items():
        strands[unit], operations[unit] = _words(unit, held, stages[unit], parameters)
    laws = timing()
    stop = schedule.dump_period
    dump_entry = Entry(
        period=stop,
        skew=dict.fromkeys(units, 0),
        begin={u: len(run[u]) for u in units},
        strands={u: len(dump[u]) for u in units},
        outputs=dump_words(schedule.template, schedule.mapped.model_guard),
        drain=laws.front + stop + laws.result + laws.broadcast,
    )
    run_entry = Entry(
        period=schedule.initiation_interval,
        skew=skew,
        begin=dict.fromkeys(units, 0),
        strands={u: len(run[u]) for u in units},
        outputs=schedule.outputs,
        drain=laws.front + schedule.end + laws.result + laws.broadcast,
    )
    image = Image(
        parameters=parameters,
        run=run_entry,
        dump=dump_entry,
        stream_run=StreamEntry(begin=0, strands=len(schedule.stream_sample), beats=schedule.beats),
        stream_load=StreamEntry(
            begin=len(schedule.stream_sample),
            strands=len(schedule.stream_load),
            beats=beats_of(schedule.stream_load),
        ),
        release=schedule.release,
        data_window=schedule.depths.data,
        root_data_window=schedule.depths.root_data,
        strands=strands,
        operations=operations,
        dump_count=schedule.dump_count,
    )
    if overlay is not None:
        refuse_features(parameters.name, image, overlay)
        refuse_numbers(parameters.name, image, overlay)
    return image


def least_image(schedule: Schedule) -> Image:
    """Return the image of a schedule whose sizes are the least that an overlay must have for its program."""
    image = encode(schedule)
    return replace(image, parameters=replace(image.parameters, accumulator=widest_sum(schedule)))


def _on_overlay(needed: Parameters, overlay: Overlay) -> Parameters:
    """Return the sizes of an overlay, with the shifts and the ring of a program.

    Raises `TablaError` if the program does not fit.
    """
    refuse_misfit(needed.name, needed, overlay)
    return replace(overlay.parameters, name=needed.name, shifts=needed.shifts, ring_slots=needed.ring_slots)


def _parameters(schedule: Schedule, memories: Mapping[str, Sequence[Strand]]) -> Parameters:
    """Return the shape of the hardware: as large as the template asks for, and as the strands of all units need."""
    format, template, depths = schedule.format, schedule.template, schedule.depths
    shifts = tuple(format.fraction + s for s in schedule.shifts)
    if min(shifts) < 0:
        raise TablaError("the learning rate needs a shift that the machine does not have", hint="use a smaller rate")
    if len(shifts) > MOST_SHIFTS:
        raise TablaError(
            f"constants outside {format}, and the learning rate, need {len(shifts)} shifts of sums, and the machine has"
            f" {MOST_SHIFTS}",
            hint="choose a format that holds more of these constants (--format), or scale the values",
        )
    every = [s for held in memories.values() for s in held]
    slots = schedule.ring_slots
    depth = {
        "model": max(1, depths.model, template.model_words),
        "data": max(1, depths.data * slots, template.data_words),
        "interim": max(1, depths.interim, template.interim_words),
        "root_data": max(1, depths.root_data * slots),
        "root_memory": max(1, depths.root_memory),
    }
    names = _functions(schedule.mapped)
    return Parameters(
        name=schedule.graph.name,
        pes=template.pes,
        pes_per_pu=template.pes_per_pu,
        roots=max(1, template.roots),
        width=format.width,
        fraction=format.fraction,
        accumulator=_accumulator(schedule, shifts, every),
        shifts=shifts,
        stream_words=schedule.stream_words,
        ring_slots=slots,
        model_depth=depth["model"],
        data_depth=depth["data"],
        interim_depth=depth["interim"],
        root_data_depth=depth["root_data"],
        root_memory_depth=depth["root_memory"],
        output_depth=schedule.output_depth,
        levels=max(1, template.levels, max(len(s.counts) for s in every)),
        body=max(len(s.body) for s in every),
        start_bits=max(1, max(s.start for s in every).bit_length()),
        interval_bits=max(s.interval for s in every).bit_length(),
        count_bits=max(1, max((c - 1 for s in every for c in s.counts), default=0).bit_length()),
        address_bits=address_widths(memories, depth, schedule.dump_count),
        guard_bits=_guard_bits(every),
        block_bits=max(1, (max(1, template.pes // schedule.stream_words)).bit_length()),
        strand_depth={u: max(1, len(held)) for u, held in memories.items()},
        operation_depth={u: max(1, sum(len(s.body) for s in held)) for u, held in memories.items()},
        functions=tuple(function_table(n, format) for n in names),
        sequencers=template.sequencers,
        split_results=schedule.split_results,
        stages=schedule.stages,
        model_guard=schedule.mapped.model_guard,
        wide_memories=tuple(sorted(schedule.layout.wide_memories)),
        wide_shifts=tuple(range(schedule.wide_from, len(shifts))),
        port_words=schedule.port_words,
        far_shift_bits=max(0, (len(shifts) - 1).bit_length() - (FEW_SHIFTS - 1).bit_length()),
        predicts=PredictedPart.of(schedule.mapped) is not None,
        scatters=any(o.field("scattered") for s in memories["root_write"] for o in s.body),
        needed=_needed(schedule),
        part_blocks=template.block_rams or USUAL_BLOCKS,
    )


def _needed(schedule: Schedule) -> dict[str, tuple[Ranges, ...]]:
    """Return the addresses that are needed of each memory, those of all slots of the ring."""
    windows = {"data": schedule.depths.data, "root data": schedule.depths.root_data}

    return {
        memory: tuple(
            in_all_slots(ranges, schedule.ring_slots if memory in windows else 1, windows.get(memory, 0))
            for ranges in own
        )
        for memory, own in schedule.layout.needed.items()
    }


def _functions(graph: Graph) -> list[str]:
    used: set[str] = {s.operation.name for s in graph.statements if isinstance(s.operation, Function)}
    used.update(s.operation.unit for s in graph.statements if isinstance(s.operation, Divide))
    return sorted(used, key=lambda n: functions()[n].code)


def _accumulator(schedule: Schedule, shifts: Sequence[int], strands: Sequence[Strand]) -> int:
    """Return the bits of an accumulator that never wraps.

    Addends move up by the shifts of their operations. The shifts of other operations cost no bits.
    """
    most = schedule.template.pes
    for statement in schedule.mapped.statements:
        if isinstance(statement.operation, Linear):
            extents = {i.name: i.extent for i in statement.reduced}
            points = sum(math.prod(extents[n] for n in t.reduce) for t in statement.operation.terms)
            most = max(most, points * (schedule.template.roots if statement.crosses else 1))
    moving = {
        int(operation.field("shift"))
        for strand in strands
        for operation in strand.body
        if operation.field("base") == "addend" or operation.field("post") == "extreme"
    }
    # A stored word has the guard bits more, by which its shift is less.
    places = [shifts[n] + schedule.mapped.model_guard * (n >= schedule.wide_from) for n in moving or {0}]
    return accumulator_bits(schedule.format.width, places, most)


def widest_sum(schedule: Schedule) -> int:
    """Return the bits of an accumulator in which no sum of a program wraps, counted statement by statement.

    The accumulators of hardware of its own are as wide, or wider: there the most terms of any sum, each as large as the
    largest addend or product of any other, count.
    """
    format = schedule.format
    most = 0
    for statement in schedule.mapped.statements:
        products, addends, shift = 0, 1, 0
        match statement.operation:
            case Linear(terms=terms, shift=shift):
                extents = {i.name: i.extent for i in statement.reduced}
                points = [(len(t.factors), math.prod(extents[n] for n in t.reduce)) for t in terms]
                products = sum(count for factors, count in points if factors > 1)
                addends = sum(count for factors, count in points if factors == 1)
            case Product(shift=shift):
                pass
        place = format.fraction + shift
        # The tree adds all lanes, whatever the statement has for them.
        products = max(products, schedule.template.pes - addends)
        most = max(most, sum_bits(format.width, products=products, addends=addends, place=place))
    return most


def _guard_bits(strands: Sequence[Strand]) -> int:
    """Return the bits of the guards `low` and `high`, with a sign."""
    least = most = 0
    for strand in strands:
        for operation in strand.body:
            for name in ("low", "high"):
                if name in operation.addresses:
                    values = _ends(strand, operation.addresses[name])
                    least, most = min(least, values[0]), max(most, values[1])
    return max((-least - 1).bit_length() if least < 0 else 0, most.bit_length()) + 1


def _ends(strand: Strand, address: Address) -> tuple[int, int]:
    """Return the lowest and the highest value of a generator."""
    spans = [stride * (count - 1) for stride, count in zip(address.strides, strand.counts, strict=True)]
    return address.base + sum(min(0, s) for s in spans), address.base + sum(max(0, s) for s in spans)


def deltas(strand: Strand, address: Address, levels: int) -> list[int]:
    """Return what the hardware adds to a generator when a loop steps and all inner loops wrap, innermost loop first."""
    out, inner = [], 0
    for stride, count in zip(reversed(address.strides), reversed(strand.counts), strict=True):
        out.append(stride - inner)
        inner += stride * (count - 1)
    return out + [0] * (levels - len(out))


def _words(
    unit: str, held: Sequence[Strand], stages: Sequence[int], parameters: Parameters
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the strand words and the operation words of a unit. `stages` has the stage of each of its strands."""
    strand_form, operation_form = strand_layout(unit, parameters), operation_layout(unit, parameters)
    strands: list[int] = []
    operations: list[int] = []
    for strand, stage in zip(held, stages, strict=True):
        fields = {
            "start": strand.start,
            "interval": strand.interval,
            "reduce": strand.reduce,
            "body": len(operations),
            "length": len(strand.body),
        }
        for level, count in enumerate(reversed(strand.counts)):
            fields[f"count{level}"] = count - 1
        if "stage" in strand_form.fields:
            fields["stage"] = stage
        strands.append(_pack(strand_form, fields))
        operations += [_operation(unit, strand, o, operation_form, parameters.levels) for o in strand.body]
    return tuple(strands), tuple(operations)


def _operation(unit: str, strand: Strand, operation: Operation, form: WordLayout, levels: int) -> int:
    format = operation_format(unit)
    fields: dict[str, int] = {}
    # These fields exist only in arrays with several sequencers, in arrays that predict, and in arrays that scatter.
    several = operation_format(f"{unit}_0").several if unit == kind_of(unit) else ()
    absent = {*several, *format.predicting, *format.scattering} - form.fields.keys()
    for name, value in operation.fields.items():
        if name in absent:
            continue
        fields[name] = format.code(name, value) if isinstance(value, str) else value
    for name in format.far:
        if name in form.fields:
            near, number = form.fields["shift"], fields.get("shift", 0)
            fields["shift"], fields[name] = number & ((1 << near.width) - 1), number >> near.width
    for generator, address in operation.addresses.items():
        fields[f"{generator}.base"] = address.base
        fields[f"{generator}.window"] = int(address.window)
        for level, delta in enumerate(deltas(strand, address, levels)):
            fields[f"{generator}.delta{level}"] = delta
    return _pack(form, fields)


def _pack(form: WordLayout, fields: Mapping[str, int]) -> int:
    word = 0
    for name, value in fields.items():
        field = form.fields[name]
        lowest, highest = -(1 << field.width >> 1), (1 << field.width) - 1
        modular = ".delta" in name
        assert modular or lowest <= value <= highest, f"{name} = {value} does not fit {field.width} bits"
        word |= field.insert(value)
    return word

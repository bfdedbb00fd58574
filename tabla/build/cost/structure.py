"""The parts of an array and their sizes, from which the LUT4s and flip-flops of a Lattice ECP5 are estimated.

Each part is a module of ``hw/`` or several of them, and its sizes are what its logic grows with: bits of words and of
accumulators, sources of operands, levels of loops. What a unit of each size takes is fitted to syntheses
(``benchmarks/cost``), so the sizes need only grow as the logic does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tabla.build.cost.blocks import (
    Memory,
    function_products,
    memories,
    operation_memory,
    output_memory,
    pieces,
    strand_memory,
)
from tabla.hw.control import sources
from tabla.hw.features import Features, UnitFeatures, is_lean
from tabla.hw.function_unit import PIPELINES
from tabla.hw.functions.interpolation import bent_bits, signed_bits
from tabla.hw.lane import LaneShape, lane_shape
from tabla.hw.pipeline import bits_for
from tabla.hw.root import joins_beside
from tabla.hw.strands import StrandFetch, strand_shape
from tabla.hw.tokens import TokenDelay
from tabla.program.image import FunctionTable, Image
from tabla.program.layout import generator_width, operation_layout, strand_layout
from tabla.templates.instructions import operation_format
from tabla.templates.template import function_kinds

Sizes = Mapping[str, float]
_RANK_LUTS = 6
"""LUT4s that a TRELLIS_DPR16X4 takes: four for its bits and two for its write port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part that is there `count` times. `sizes` say how large each of them is; every part has the size `one`."""

    kind: str
    count: int
    sizes: Sizes


def parts(image: Image, features: Features) -> Iterator[Part]:
    """Yield the parts of an array."""
    parameters, shape = image.parameters, lane_shape(image.parameters, features)
    issue, held = features["lane_issue"], list(memories(image, features))
    alive, rounds = live(shape), shape.writes_result or issue.uses("emit", "1")
    if alive:
        lanes = [memory for memory in held if memory.name in shape.memories]
        yield _lane(shape, lanes, rounds=rounds, adds=issue.uses("base", "addend"))
    else:
        yield Part(kind="lane", count=parameters.pes, sizes={"dead": 1, "dead_sum": parameters.accumulator})
    unused = _unused(shape, issue) | (set() if rounds else {"shift", "post", "issued", "emit"})
    near = sum(width for name, width in shape.lane_controls.items() if name not in unused)
    loads = shape.parameters.width + shape.guard
    sizes = {"one": 1, "bits": near * alive, "words": loads * alive, "dead_bits": near * (not alive)}
    yield Part(kind="controls", count=parameters.pes, sizes=sizes)
    shared = sum(shape.controls.values())
    groups = parameters.pes // parameters.pes_per_pu
    # Words of the bus and of the stream that pass the result registers are joined in the group.
    passing = loads * min(parameters.pes_per_pu, parameters.stream_words) * shape.bus_through
    yield Part(kind="group", count=groups, sizes={"one": 1, "bits": shared, "passing": passing})
    yield _tree(shape)
    yield from _roots(image, features, [memory for memory in held if memory.name.startswith("root ")])
    for table in parameters.functions:
        yield _function(table, parameters.width, parameters.fraction, parameters.roots)
    for unit in ("stream", *image.units):
        yield from _sequencer(image, features, unit)
    yield from _border(image, features)


def live(shape: LaneShape) -> bool:
    """Return whether lanes have words. The lanes of a program that works at the root alone read memories that nobody
    writes.
    """
    loaded = "data" in shape.memories and "data" in (*shape.a_sources, *shape.b_sources, *shape.c_sources)
    buses = "bus" in (*shape.b_sources, *shape.c_sources)
    return loaded or buses or any(_written(shape, name) or _loaded(shape, name) for name in ("model", "interim"))


def _loaded(shape: LaneShape, name: str) -> bool:
    return {"model": shape.model_loaded, "interim": shape.interim_loaded}[name]


def _unused(shape: LaneShape, issue: UnitFeatures) -> set[str]:
    """Return the controls that always have one value, so that no register holds them."""
    found = {"bus"} if not (shape.writes_bus or {"bus"}.intersection((*shape.b_sources, *shape.c_sources))) else set()
    found |= {f"{name}_write_address" for name in ("model", "interim") if not _written(shape, name)}
    found |= set() if shape.model_written or shape.interim_written else {"to_model", "to_interim", "write_bus", "load"}
    if not issue.uses("half", "all", "lane0", "array0"):
        found |= {"half_all", "half_lane0"}
    return found


def _written(shape: LaneShape, name: str) -> bool:
    written = {"model": shape.model_written or shape.model_loaded, "interim": shape.interim_written}
    return written[name] or (name == "interim" and shape.interim_loaded)


def _one_hot(choices: int) -> int:
    """Return the LUT4s of a bit that is one of so many, each with a select of its own."""
    return -(-(2 * choices - 1) // 3) if choices else 0


def _lane(shape: LaneShape, held: Sequence[Memory], *, rounds: bool, adds: bool) -> Part:
    """Return the lanes, with their memories. `rounds` says that somebody looks at their results, `adds` that a sum
    starts from a word.
    """
    parameters, word = shape.parameters, shape.parameters.width + shape.guard
    b_sources = [name for name in shape.b_sources if name != "one"]
    sizes = {
        "one": 1,
        "sum": parameters.accumulator,
        "result": word * rounds,
        "above": parameters.accumulator * rounds,
        "start": word * adds,
        "operands": parameters.width * (_one_hot(len(shape.a_sources)) + _one_hot(len(b_sources))),
        "addend": word * adds * max(0, _one_hot(len(shape.c_sources) + len(shape.wide_sources)) - 1),
        "shifts": word * (len(shape.shifts) - 1) * (rounds and not shape.plain),
        "addend_shifts": parameters.accumulator * max(0, len(shape.addend_shifts) - 1),
        "compares": word * bool(shape.posts - {"none", "extreme"}),
        "extremes": parameters.accumulator * shape.extremes,
        "bus": word * (shape.writes_bus and shape.writes_result and not shape.bus_through),
        "pieces": parameters.width * (parameters.width > 18),
        "plain": word * shape.plain,
        "distributed": sum(_distributed(memory) * memory.copies for memory in held) / parameters.pes,
    }
    return Part(kind="lane", count=parameters.pes, sizes=sizes)


def _distributed(memory: Memory) -> float:
    """Return the LUT4s of a memory's parts that are distributed RAM, with the choice among their ranks, and those that
    join its banks.
    """
    ranks = sum(
        _RANK_LUTS * piece.ranks + piece.bits * max(0, -(-piece.words // 16) - 1) for piece in memory.distributed
    )
    return ranks + memory.bits * max(0, len(memory.banks) - 1)


def _tree(shape: LaneShape) -> Part:
    parameters = shape.parameters
    registers, row = 0, parameters.lanes
    while row > 1:
        row = -(-row // 2)
        registers += row
    sums = parameters.roots * (parameters.lanes - 1) + (parameters.roots - 1)
    registers = parameters.roots * registers + (parameters.roots - 1)
    sizes = {
        "one": 1,
        "sums": sums * (parameters.accumulator + 2),
        "registers": registers * parameters.accumulator,
        # With several sequencers the words of those that do not send are zeros, so the tree can only add.
        "extremes": sums * parameters.accumulator * (shape.extremes and parameters.sequencers == 1),
        "gates": parameters.accumulator * _gates(shape),
    }
    return Part(kind="tree", count=1, sizes=sizes)


def _gates(shape: LaneShape) -> int:
    """Return how many words of several sequencers are gated: that of a group, or those of its lanes where they take
    their controls from several sequencers.
    """
    parameters, size = shape.parameters, shape.parameters.pes_per_pu
    if parameters.sequencers == 1:
        return 0
    lanes = [lane * parameters.sequencers // parameters.pes for lane in range(parameters.pes)]
    groups = [lanes[first : first + size] for first in range(0, parameters.pes, size)]
    return sum(1 if len(set(group)) == 1 else size for group in groups)


def _roots(image: Image, features: Features, held: Sequence[Memory]) -> Iterator[Part]:
    """Yield the roots, with their memories, and what all of them share."""
    parameters, issue = image.parameters, features["root_issue"]
    form = operation_format("root_issue")
    found = {operand: sources(form, operand, issue) for operand in ("a", "b", "c")}
    late = sum(name.startswith("late_") for name in found["c"])
    word = parameters.width + parameters.model_guard
    factors = len(found["a"]) + len([name for name in found["b"] if name not in ("one", "position")])
    several, beside = parameters.roots > 1, joins_beside(parameters, features)
    divides = any(function_kinds()[table.kind].divides for table in parameters.functions)
    sizes = {
        "one": 1,
        "sum": parameters.accumulator * (not beside),
        "beside": parameters.accumulator * beside,
        "word": word,
        "operands": parameters.width * factors,
        "addend": word * (len(found["c"]) - late + len(issue.wide_sources)),
        "late": word * late,
        "shifts": word * (len(issue.values["shift"]) - 1),
        "compares": word * bool(issue.values["post"] - {"none", "extreme"}),
        "extremes": parameters.accumulator * ("extreme" in issue.values["post"]),
        "several": parameters.accumulator * (several and not beside),
        "address": parameters.address_bits["root_issue"],
        "distributed": sum(map(_distributed, held)),
        "functions": parameters.width * bool(parameters.functions),
        "divides": parameters.width * divides,
    }
    yield Part(kind="root", count=parameters.roots, sizes=sizes)
    # Synthesis merges the registers that delay the control and the addresses of all roots, which are equal.
    shared = {
        "one": 1,
        "address": parameters.address_bits["root_issue"],
        "functions": float(bool(parameters.functions)),
    }
    yield Part(kind="root_control", count=1, sizes=shared)


def function_sizes(table: FunctionTable, width: int, fraction: int) -> dict[str, float]:
    """Return the sizes of a function's pipeline, which each kind has by itself.

    A pipeline that makes a bit in each stage grows with the square of the width, another one with the width.
    """
    kind = "divide" if table.kind == "quotient" else table.kind
    stages = {"sqrt": (width + fraction + 3) // 2, "divide": width + fraction, "quotient": width}.get(table.kind, 0)
    assert table.kind in PIPELINES
    products = function_products(table, width)
    bent = signed_bits(table.base) + bent_bits(table) + table.shift if table.curve else 0
    return {
        kind: 1,
        f"{kind}_bits": stages * width if stages else width,
        # The bits that are added where a product takes several multipliers.
        "pieces": sum((left + right) * (pieces(left, right) - 1) for left, right in products),
        # The words that wait for the bent slope of a parabola, and its sum.
        "curve": bent,
    }


def _function(table: FunctionTable, width: int, fraction: int, roots: int) -> Part:
    return Part(kind="function", count=roots, sizes=function_sizes(table, width, fraction))


def _sequencer(image: Image, features: Features, unit: str) -> Iterator[Part]:
    parameters, own = image.parameters, features[unit]
    lean = is_lean(parameters)
    slots = own.slots if lean else parameters.body
    paced = own.paced if lean else parameters.interval_bits > 1
    form = operation_format(unit)
    for name in form.generators:
        if name in own.generators:
            yield _generator(image, own, unit, name, slots if slots > 1 else 1, lean)
    layout, depth = strand_layout(unit, parameters), parameters.strand_depth[unit]
    ready = strand_shape(layout, parameters.levels).size
    at_hand = StrandFetch.AT_HAND >= depth > 1
    fetch = {
        "one": 1,
        "word": layout.width,
        "ready": ready,
        "at_hand": _RANK_LUTS * -(-layout.width // 4) * at_hand,
        "ahead": _RANK_LUTS * -(-ready // 4) * (depth > StrandFetch.AT_HAND),
        "far": depth > StrandFetch.AT_HAND,
        "start": parameters.start_bits * (depth > 1),
        "address": bits_for(depth) * (depth > 1),
    }
    yield Part(kind="fetch", count=1, sizes=fetch)
    levels, count_bits = parameters.levels, parameters.count_bits
    loops = {
        "one": 1,
        "levels": levels,
        # A level steps when all levels within it are at their end.
        "nest": levels * levels,
        "counts": levels * (count_bits + 1),
        "interval": parameters.interval_bits * paced,
        "slots": bits_for(parameters.operation_depth[unit]) * (slots > 1),
    }
    yield Part(kind="loops", count=1, sizes=loops)
    operation = operation_layout(unit, parameters)
    words = operation_memory(image, features, unit)
    strands = _distributed(strand_memory(image, unit)) if depth > StrandFetch.AT_HAND else 0
    sizes = {
        "one": 1,
        "ready": ready,
        "fields": operation.width,
        "own_fields": sum(field.width for field in form.fields),
        "start": parameters.start_bits,
        "distributed": _distributed(words) + strands,
    }
    yield Part(kind="stream_sequencer" if unit == "stream" else "sequencer", count=1, sizes=sizes)


def _generator(image: Image, own: UnitFeatures, unit: str, name: str, slots: int, lean: bool) -> Part:
    bits = generator_width(unit, name, image.parameters)
    levels = len(own.moves.get(name, ())) if lean else image.parameters.levels
    sizes = {
        "one": 1,
        "bits": bits,
        "levels": bits * _one_hot(levels + 1),
        "window": bits * (name in own.windowed and unit != "stream"),
        "slots": bits * (slots - 1),
    }
    return Part(kind="generator", count=1, sizes=sizes)


def _border(image: Image, features: Features) -> Iterator[Part]:
    parameters, run, dump = image.parameters, image.run, image.dump
    delays = [("release", image.release - TokenDelay.LATENCY, image.release - TokenDelay.LATENCY, run.period)]
    delays += [(unit, run.skew[unit], dump.skew[unit], run.period) for unit in image.units]
    for _, one, other, period in delays:
        yield _delay(max(one, other), period)
    for unit in image.units:
        yield Part(kind="window", count=1, sizes={"one": 1, "bits": parameters.address_bits[unit]})
    words = parameters.stream_words * parameters.stored_width
    destination = sum(f.width for f in operation_format("stream").fields) + sum(
        generator_width("stream", name, parameters) for name in features["stream"].generators
    )
    stream = {
        "one": 1,
        "words": words,
        "several": (parameters.stream_words - 1) * parameters.width * (parameters.roots == 1),
        "blocks": -(-parameters.pes // parameters.stream_words),
        "destination": destination,
        "address": parameters.address_bits["stream"],
        "lanes": parameters.pes * parameters.width * (parameters.roots > 1),
    }
    yield Part(kind="stream", count=1, sizes=stream)
    bits = sum(
        value.bit_length() for value in (run.period, run.drain, image.stream_load.beats, parameters.output_depth)
    )
    yield Part(kind="controller", count=1, sizes={"one": 1, "bits": bits})
    output = output_memory(image)
    queue = {
        "one": 1,
        "word": parameters.width,
        "distributed": output.copies * _distributed(output),
        "address": bits_for(output.words),
        "several": parameters.width * parameters.roots * (parameters.roots > 1),
    }
    yield Part(kind="output", count=1, sizes=queue)
    address = sum(parameters.address_bits[unit] for unit in image.units)
    program = max(strand_layout(unit, parameters).width for unit in ("stream", *image.units))
    program = max(program, *(operation_layout(unit, parameters).width for unit in ("stream", *image.units)))
    top = {
        "one": 1,
        "units": len(image.units),
        "address": address,
        "program": program,
        "word": parameters.width,
        "roots": parameters.roots * (parameters.roots > 1),
    }
    yield Part(kind="top", count=1, sizes=top)


def _delay(cycles: int, period: int) -> Part:
    """Return what delays tokens: a chain of registers, or a queue of due times."""
    chain = cycles <= TokenDelay.CHAIN
    in_flight = (cycles + 2) // max(1, period) + 2
    bits = (cycles + 4).bit_length()
    ranks = _RANK_LUTS * -(-bits // 4) * -(-(1 << bits_for(in_flight)) // 16)
    sizes = {
        "one": 1,
        "chain": (cycles + TokenDelay.LATENCY) * chain,
        "queue": not chain,
        "bits": bits * (not chain),
        "ranks": ranks * (not chain),
    }
    return Part(kind="delay", count=1, sizes=sizes)

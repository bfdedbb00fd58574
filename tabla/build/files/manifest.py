"""The manifest: a JSON file with everything that a host needs to drive the accelerator."""

from __future__ import annotations

import math
from typing import Any, Literal

from tabla._version import VERSION
from tabla.base.folder import MANIFEST_SCHEMA
from tabla.base.source import Source
from tabla.build.files.bus import bus_entry
from tabla.build.files.figures import figures
from tabla.build.files.names import legal_names
from tabla.graph.format import Format
from tabla.graph.rate import RATE, RuntimeRate
from tabla.hw.accelerator import program_width
from tabla.hw.reset import reset_cycles
from tabla.program.bus import BusShape
from tabla.program.host import whole_shape
from tabla.program.image import Entry, Image
from tabla.program.prediction import HostPrediction
from tabla.schedule.bound import Bound
from tabla.schedule.mapping.places import Place
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.strand import Strand
from tabla.schedule.strands.streams import beats_of, dump_words, loaded, streamed

HOST_FIELDS = (
    *("name", "module", "format", "integer_bits", "fraction_bits", "minibatch", "cycles", "latency", "ring_slots"),
    *("stream_words", "tensors", "stream", "runtime_rate", "prediction"),
)
"""What a host needs of a program that runs on an overlay, whose ports are not those of the program."""
OF_HARDWARE = ("ports", "reset_cycles", "program", "verilog_licence")
"""What the manifest of a program on an overlay lacks: the manifest of the overlay has it."""
STATE_PORTS = (
    ("busy", "out", 1, "a command is under way"),
    ("sample_start", "out", 1, "a sample begins in this cycle"),
    ("update", "out", 1, "a model word is written in this cycle"),
    ("lane_overflows", "out", 32, "saturated results of lanes since reset"),
    ("root_overflows", "out", 32, "saturated results of the root since reset"),
    ("domain_errors", "out", 32, "function arguments outside the domain since reset"),
)
"""The outputs by which accelerators and overlays tell what they do: name, direction, bits and meaning."""
_OUT_DATA = ("a result or a dumped word", "results or dumped words: word l of a beat from bit l * width up")
_PREDICTS = "taken with the command: a run keeps the models, and counts only what the results need"
LICENCE = "The generated Verilog belongs to whoever generated it; see LICENSE of tabla for the parts that it contains."


def manifest(
    schedule: Schedule,
    bound: Bound,
    image: Image,
    module: str,
    program: Source,
    bus: BusShape | None = None,
    integers: frozenset[str] = frozenset(),
    rate: RuntimeRate | None = None,
) -> dict[str, Any]:
    """Return the content of the manifest of a build.

    `module` is the name of the Verilog module, and `bus` has the sizes of the wrapper if there is one. `integers` are
    the inputs and results whose words are whole numbers. `rate` is a learning rate that hosts load.
    """
    report, guard = figures(schedule, bound).numbers(), schedule.mapped.model_guard
    return {
        "schema": MANIFEST_SCHEMA,
        "tool": f"tabla {VERSION}",
        **report,
        "integer_bits": schedule.format.integer,
        "fraction_bits": schedule.format.fraction,
        "module": module,
        "source": program.name.replace("\\", "/").rsplit("/", 1)[-1],
        "verilog_licence": LICENCE,
        "names": _names(schedule),
        "ports": _ports(image, stoppable=bus is not None),
        "reset_cycles": reset_cycles(image),
        "commands": {"load": 0, "run": 1, "dump": 2},
        "period": schedule.initiation_interval,
        "ring_slots": schedule.ring_slots,
        "tensors": _tensors(schedule, integers),
        "memory_map": [
            _place(tensor, place, schedule.mapped.tensors[tensor].split, _refined_shape(schedule, tensor))
            for (tensor, _), place in sorted(schedule.layout.places.items())
        ],
        "stream": {
            "words_per_beat": schedule.stream_words,
            "output_words_per_beat": schedule.port_words,
            "sample": _segments(schedule, [t for t, _ in streamed(schedule.layout)], schedule.stream_sample),
            "load": _segments(schedule, [t for t, _ in loaded(schedule.layout)], schedule.stream_load),
            "results": _results(schedule),
            "dump": {
                "count": schedule.dump_count,
                "words_per_count": dump_words(schedule.template, guard),
                "order": "per address: the model word of each lane, then the root's; of each, all groups with a root"
                + "; then the guard bits of all of them, in the same order" * bool(guard),
            },
        },
        "constants": {
            name: [int(word) for word in words.reshape(-1)] for name, words in sorted(schedule.constants.items())
        },
        "program": _program(image),
        **({} if rate is None else {"runtime_rate": rate_entry(rate, schedule.format)}),
        **_prediction(schedule, image),
        **({} if bus is None else {"bus": bus_entry(schedule, image, module, bus)}),
    }


def rate_entry(rate: RuntimeRate, number_format: Format) -> dict[str, Any]:
    """Return the entry ``runtime_rate``: the model that is the rate, and what its words mean.

    The rate of the word m is ``sign * m * 2^-(fraction_bits + shift)``. `word` is that of the rate `built`, with which
    the program was compiled.
    """
    return {
        "tensor": RATE,
        "sign": rate.sign,
        "shift": rate.shift,
        "built": float(rate.built),
        "word": rate.word(rate.built, number_format),
    }


def _prediction(schedule: Schedule, image: Image) -> dict[str, Any]:
    """Return the entry ``prediction`` of a program that gives results without learning, or nothing.

    `command` is ``predict`` where PREDICT keeps the models, and ``run`` where nothing changes them. `inputs` are the
    inputs that the results need. Of `ignored`, the others, no result depends.
    """
    found = HostPrediction.of(schedule, image)
    if found is None:
        return {}
    command = "predict" if image.parameters.predicts else "run"
    return {"prediction": {"command": command, "inputs": list(found.inputs), "ignored": list(found.ignored)}}


def _names(schedule: Schedule) -> dict[str, str]:
    """Return the Verilog name of every tensor whose name in the program is not legal in Verilog."""
    table = legal_names(name for name in schedule.graph.tensors)
    return {name: legal for name, legal in table.items() if legal != name}


def _ports(image: Image, *, stoppable: bool) -> list[dict[str, Any]]:
    p = image.parameters
    rows = [
        ("clk", "in", 1, "clock"),
        ("rst", "in", 1, f"synchronous reset; hold it for {reset_cycles(image)} cycles"),
        *_offer("command", "in", "a command"),
        ("command_code", "in", 2, "0 load, 1 run, 2 dump"),
        ("command_count", "in", 32, "samples to run, addresses to dump"),
        *_offer("in", "in", "a beat"),
        ("in_data", "in", p.stream_words * p.width, "word l of a beat from bit l * width up"),
        *_offer("out", "out", "a word" if p.port_words == 1 else "a beat"),
        ("out_data", "out", p.port_words * p.width, _OUT_DATA[p.port_words > 1]),
        *STATE_PORTS,
        ("program_valid", "in", 1, "write a microcode word; only while not busy"),
        ("program_memory", "in", image.memory_bits, "which memory: see program"),
        ("program_address", "in", 16, "which word"),
        ("program_data", "in", program_width(image), "the word"),
        *([("stop", "in", 1, "strikes the samples of a run that have not begun")] if stoppable else []),
        *([("command_predict", "in", 1, _PREDICTS)] if p.predicts else []),
    ]
    return [{"name": n, "direction": d, "bits": b, "meaning": m} for n, d, b, m in rows]


def _offer(name: str, direction: Literal["in", "out"], what: str) -> list[tuple[str, str, int, str]]:
    """Return the two ports of a handshake. `direction` is that of the data, seen from the accelerator."""
    back = "out" if direction == "in" else "in"
    return [(f"{name}_valid", direction, 1, f"{what} is offered"), (f"{name}_ready", back, 1, "and taken")]


def _tensors(schedule: Schedule, integers: frozenset[str]) -> list[dict[str, Any]]:
    graph = schedule.graph
    named = [t for t in graph.tensors.values() if t.role in ("input", "label", "model")]
    found = [{"name": t.name, "role": t.role, "shape": list(t.shape)} for t in named]
    found += [
        {"name": shown, "role": "result", "shape": list(graph.tensors[tensor].shape)} for shown, tensor in graph.results
    ]
    return [entry | ({"integer": True} if entry["name"] in integers else {}) for entry in found]


def _place(tensor: str, place: Place, split: int, shape: tuple[int, ...]) -> dict[str, Any]:
    """Return where a tensor lies, as an entry of the memory map.

    A tensor that is spread over lanes has a `spread_axis`. Let L be the number of lanes that share a root. Element e of
    that axis lies in lane ``e mod L`` and in row ``e div L``. The address of an element is `base` plus the sum of
    `strides` times subscripts. A tensor in only some of the lanes also has `first_lane` and `lanes`: L is then `lanes`,
    and lanes are counted from `first_lane`.

    The `split_axis` of a tensor is cut into as many runs as there are roots, and run n lies in tap group n. A tensor
    without a split axis lies in every tap group.

    Where the compiler made two or more axes of one, as it does for the channels of a convolution with groups, the entry
    has the `shape` to which axes, strides and subscripts belong. In row-major order its elements are those of the shape
    in the program.
    """
    spread, span = place.spot.kind == "lane", place.spot.span
    return {
        "tensor": tensor,
        "where": {"root": "root", "lane": "lanes", "every": "every lane"}[place.spot.kind],
        "spread_axis": place.spot.axis if spread else None,
        "split_axis": split if split >= 0 else None,
        **({"first_lane": span.first, "lanes": span.lanes} if span.lanes else {}),
        "memories": list(place.banks),
        "base": place.base,
        "words": place.words,
        **({"shape": list(shape)} if shape else {}),
        "strides": list(place.strides),
        **({"guard_bits": place.guard} if place.guard else {}),
    }


def _refined_shape(schedule: Schedule, tensor: str) -> tuple[int, ...]:
    """Return the shape of a tensor of which axes were refined; () if it has the shape of the program."""
    found, known = whole_shape(schedule, tensor), schedule.graph.tensors.get(tensor)
    return () if known is None or known.shape == found else found


def _segments(schedule: Schedule, tensors: list[str], strands: tuple[Strand, ...]) -> list[dict[str, Any]]:
    """Return the order of the input words: an entry for each run of beats, in the order in which they arrive."""
    segments = []
    for tensor, strand in zip(tensors, strands, strict=True):
        operation = strand.body[-1]
        segments.append(
            {
                "tensor": tensor,
                "constant": tensor in schedule.constants,
                "beats": beats_of([strand]),
                "to": sorted(name for name, value in operation.fields.items() if value),
                "base": operation.addresses["address"].base,
                "counts": list(strand.counts),
            }
        )
    return segments


def _results(schedule: Schedule) -> list[dict[str, Any]]:
    """Return the results, or parts of them, in the order in which they leave the accelerator.

    `order` is ``row-major`` or a list of loop nests. A loop nest has its outermost loop first, and in each iteration
    the element ``base + sum(stride * counter)`` of the row-major array leaves. If there are `groups`, that many words
    leave in each iteration, one from each tap group with a root. Each group then sends its own part along
    `split_axis`; if `split_axis` is None, all groups send the same word. A `shape` is as in the memory map.
    """
    tensors = dict(schedule.graph.results)
    out = []
    for shown, leaves in schedule.departures:
        nests = [{"base": n.at.base, "strides": list(n.at.strides), "counts": list(n.counts)} for n in leaves]
        words = sum(math.prod(n.counts) for n in leaves) or schedule.mapped.tensors[tensors[shown]].size
        entry: dict[str, Any] = {"name": shown, "words": words, "order": nests or "row-major"}
        if schedule.split_results:
            entry["groups"] = schedule.template.roots
            entry["split_axis"] = split if (split := schedule.mapped.tensors[tensors[shown]].split) >= 0 else None
            entry |= {"shape": list(shape)} if (shape := _refined_shape(schedule, tensors[shown])) else {}
        out.append(entry)
    return out


def _entry(entry: Entry) -> dict[str, Any]:
    return {"period": entry.period, "outputs": entry.outputs, "skew": dict(entry.skew)}


def _program(image: Image) -> dict[str, Any]:
    memories = []
    for number, (unit, kind) in enumerate(image.memories):
        words = image.strands[unit] if kind == "strands" else image.operations[unit]
        memories.append(
            {"number": number, "unit": unit, "kind": kind, "file": f"program/{unit}.{kind}.hex", "words": len(words)}
        )
    return {
        "memories": memories,
        "functions": [{"name": f.name, "code": f.code, "latency": f.latency} for f in image.parameters.functions],
        "run": _entry(image.run),
        "dump": _entry(image.dump),
    }

"""Measuring designs: the cells of each part after synthesis, and the clock rates after place and route."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from amaranth.back import verilog
from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from benchmarks.cost.designs import Design, design
from tabla.base.source import TablaError
from tabla.build.cost.estimate import causes
from tabla.build.cost.structure import function_sizes
from tabla.build.synth.nextpnr import place_and_route
from tabla.build.synth.yosys import Netlist, synthesise_flat
from tabla.graph.format import Format
from tabla.hw.features import features_of
from tabla.hw.function_unit import pipeline_for
from tabla.program.image import FunctionTable
from tabla.program.sizes import function_table
from tabla.templates.targets import target

FAMILY = "ecp5"
Row = dict[str, Any]
_LUTS = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}
_KEPT = {"TRELLIS_FF": "FF", "MULT18X18D": "DSP", "DP16KD": "RAM"}
_FUNCTIONS = ("exp", "log", "sqrt", "sin", "divide", "tanh", "sigmoid")
_TABLES = ("exp", "log", "sin", "tanh", "sigmoid")
FUNCTIONS = {"q4.6": _FUNCTIONS, "q6.10": _FUNCTIONS, "q8.12": _FUNCTIONS, "q6.18": _TABLES}
"""The functions that are synthesised by themselves in a format. Formats of more than 16 fraction bits have tables of
parabolas; functions without tables grow as they do in the formats before."""
# The kinds of parts of `tabla.build.cost.structure`, by the names of the cells. The first pattern that fits counts.
_KINDS = (
    # The sums of lanes may have the name of the wires to their tree.
    (r"group_\d+\.(lane_\d+\.|words_)", "lane"),
    (r"(group_\d+\.)?tree\.", "tree"),
    (r"group_\d+\.", "controls"),
    (r".*_generator\.", "generator"),
    (r".*\.fetch\.", "fetch"),
    (r".*\.loops\.", "loops"),
    (r"stream\.sequencer\.", "stream_sequencer"),
    (r"\w+_sequencer\.", "sequencer"),
    (r"(\w+_tokens|controller\.slot_release)\.", "delay"),
    (r"controller\.", "controller"),
    (r"stream\.", "stream"),
    (r"\w+_window\.", "window"),
    (r"root(_\d+)?\.functions\.\w+\.", "function"),
    (r"root(_\d+)?\.", "root"),
    (r"(output|border|serial)\w*\.", "output"),
)


def kind_of(cell: str) -> str:
    """Return the kind of the part that a cell of a flat netlist belongs to, by its name."""
    return next((kind for pattern, kind in _KINDS if re.match(pattern, cell)), "top")


def cells_of(netlist: Netlist) -> dict[str, list[int]]:
    """Return the LUT4s and flip-flops of each kind of part."""
    found: dict[str, list[int]] = {}
    for name, cell in netlist.parsed()["cells"].items():
        luts, flip_flop = _LUTS.get(cell["type"], 0), cell["type"] == "TRELLIS_FF"
        if luts or flip_flop:
            counts = found.setdefault(kind_of(name), [0, 0])
            counts[0] += luts
            counts[1] += flip_flop
    return dict(sorted(found.items()))


def fingerprint(verilog: str) -> str:
    """Return a short text that is another one for a design that has other Verilog."""
    return hashlib.sha256(verilog.encode()).hexdigest()[:16]


def measured(draw: int) -> Row:
    """Return the resources of a design, or the reason why it does not compile."""
    drawn = design(draw)
    try:
        made = drawn.build()
        netlist = synthesise_flat(made.verilog, made.module, target(FAMILY))
    except TablaError as fault:
        return {"draw": draw, "design": drawn.name, "refused": fault.message}
    return {
        "draw": draw,
        "design": drawn.name,
        "verilog": fingerprint(made.verilog),
        "taken": dict(netlist.taken),
        "cells": cells_of(netlist),
    }


class _Pipelines(wiring.Component):
    """Function pipelines side by side, so that one synthesis measures all of them."""

    def __init__(self, tables: Sequence[FunctionTable], number: Format) -> None:
        self.tables = tables
        self.number = number
        width = number.width
        ports: dict[str, Any] = {}
        for n in range(len(tables)):
            ports |= {f"in_{n}": In(width), f"by_{n}": In(width), f"out_{n}": Out(width), f"events_{n}": Out(2)}
        super().__init__(ports)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        for n, table in enumerate(self.tables):
            pipeline = pipeline_for(table, width=self.number.width, fraction=self.number.fraction)
            m.submodules[f"pipeline_{n}"] = pipeline
            m.d.comb += [
                pipeline.operand.eq(getattr(self, f"in_{n}")),
                pipeline.divisor.eq(getattr(self, f"by_{n}")),
                getattr(self, f"out_{n}").eq(pipeline.value),
                getattr(self, f"events_{n}").eq(Cat(pipeline.overflow, pipeline.domain_error)),
            ]
        return m


def measured_functions(name: str) -> list[Row]:
    """Return the cells of the pipelines of functions in a format, each by itself, with their sizes and blocks."""
    number = Format.parse(name)
    tables = [function_table(function, number) for function in FUNCTIONS[name]]
    text = verilog.convert(_Pipelines(tables, number), name="functions")
    netlist = synthesise_flat(text, "functions", target(FAMILY))
    taken = [Counter[str]() for _ in tables]
    for name, cell in netlist.parsed()["cells"].items():
        # Cells at a port bear the name of the port.
        if place := re.match(r"(?:pipeline|in|by|out|events)_(\d+)[._]", name):
            taken[int(place[1])]["LUT"] += _LUTS.get(cell["type"], 0)
            taken[int(place[1])][_KEPT.get(cell["type"], "")] += 1
    return [
        {
            "draw": None,
            "design": f"function {table.name}, {number}",
            "taken": {kind: counts[kind] for kind in ("LUT", "FF", "DSP", "RAM")},
            "cells": {"function": [counts["LUT"], counts["FF"]]},
            "sizes": {
                f"function.{name}": size for name, size in function_sizes(table, number.width, number.fraction).items()
            },
        }
        for table, counts in zip(tables, taken, strict=True)
    ]


def clocked(drawn: Design, parts: Sequence[tuple[str, int]], seeds: int) -> Iterator[Row]:
    """Yield the clock rates in MHz of so many seeds on each part in a speed grade, with what makes the design slow."""
    made = drawn.build()
    netlist = synthesise_flat(made.verilog, made.module, target(FAMILY))
    for name, grade in parts:
        device = target(FAMILY).device(name)
        runs = [place_and_route(netlist, device, grade, seed=seed) for seed in range(1, seeds + 1)]
        rates = [round(run.clock.claimed, 1) for run in runs if run.clock]
        yield {
            "draw": drawn.draw,
            "design": drawn.name,
            "part": device.part,
            "grade": grade,
            "megahertz": rates,
            "sizes": causes(made.image, features_of(made.image), netlist.taken["LUT"]),
        }

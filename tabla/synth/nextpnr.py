"""Place and route: a flat netlist -> clock rate, utilisation and critical path on a part."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tabla.source import TablaError
from tabla.synth.critical_path import CriticalPath, critical_path, fan_outs
from tabla.synth.floorplan import floorplan
from tabla.synth.tool import last_words, run_tool
from tabla.synth.yosys import Netlist
from tabla.templates.targets import Device, Packing

# Asked of the router: more than any of the parts can do, so that it never stops trying.
_ASKED = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """What nextpnr reports for the slowest clock, and what may be claimed: no more than the primitives stand. MHz."""

    name: str
    reported: float
    claimed: float
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """Where a chip's ports lie: package, constraint file, what nextpnr shall write; and the clock's rate in MHz."""

    package: str
    constraints: str
    packing: Packing
    megahertz: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """One run of nextpnr: `report` is its own JSON, `routed` what a packer makes a bitstream of, if it had pins."""

    device: Device
    package: str
    grade: int
    seed: int
    clock: Clock | None
    path: CriticalPath | None
    report: Mapping[str, Any] = field(repr=False)
    routed: str = field(default="", repr=False)


def chosen_grade(device: Device, grade: int | None) -> int:
    """The grade asked for, or the part's first. One that the part does not have is a `TablaError`."""
    if grade is None:
        return device.grades[0]
    if grade not in device.grades:
        choices = ", ".join(str(known) for known in device.grades)
        raise TablaError(f"{device.part} has no speed grade {grade}", hint=f"its grades are {choices}")
    return grade


def check_capacity(netlist: Netlist, device: Device) -> None:
    """Refuse a design that the part cannot hold, before hours go into placing it."""
    for kind, taken in netlist.taken.items():
        if taken > device.capacity(kind):
            name = netlist.target.title_of(kind)
            raise TablaError(
                f"the design needs {taken} {name}, {device.part} has {device.capacity(kind)}",
                hint="ask for fewer PEs or a larger device",
            )


def place_and_route(
    netlist: Netlist, device: Device, grade: int | None = None, *, seed: int = 1, pinned: Pinned | None = None
) -> Placement:
    """One run of nextpnr, of a block without pins or, `pinned`, of a whole chip.

    What does not fit, a missing tool and whatever stops nextpnr are a `TablaError`.
    """
    target, chosen = netlist.target, chosen_grade(device, grade)
    if not target.place:
        raise TablaError(f"{target.title} cannot be placed and routed here", hint=target.note)
    check_capacity(netlist, device)
    package = pinned.package if pinned else device.packages[0]
    with tempfile.TemporaryDirectory(prefix="tabla-nextpnr-") as name:
        folder = Path(name)
        (folder / "design.json").write_text(_design(netlist, device, block=not pinned), encoding="utf-8")
        (folder / "design.pdc").write_text("", encoding="utf-8")
        arguments = device.command(package, chosen)
        arguments += ["--json", "design.json", "--report", "report.json", "--seed", str(seed)]
        arguments += ["--freq", str(pinned.megahertz if pinned else _ASKED), "--timing-allow-fail"]
        if pinned:
            (folder / pinned.packing.pins).write_text(pinned.constraints, encoding="utf-8")
            arguments += pinned.packing.pin_arguments
        status, said = run_tool(target.place, target.package, arguments, folder)
        if status or not (folder / "report.json").is_file():
            raise TablaError(f"nextpnr failed for {device.part}", notes=last_words(said))
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        routed = (folder / pinned.packing.routed).read_text(encoding="utf-8") if pinned else ""
    module = netlist.parsed()
    clock = _clock(report, module, netlist, chosen)
    return Placement(
        device=device,
        package=package,
        grade=chosen,
        seed=seed,
        clock=clock,
        path=critical_path(report, clock.name, fan_outs(module)) if clock else None,
        report=report,
        routed=routed,
    )


def _design(netlist: Netlist, device: Device, *, block: bool) -> str:
    """What nextpnr reads: the netlist with the sites of its blocks.

    A `block` has no more than the family's few ports: an accelerator is part of a design, with more ports than chips
    have pins. What the others led to stays, undriven or unread: routers optimise nothing, and no path between
    registers changes.
    """
    design = json.loads(netlist.text)
    module = design["modules"][netlist.top]
    if block:
        module["ports"] = {name: port for name, port in module["ports"].items() if name in netlist.target.ports}
    if device.sites:
        for cell, site in floorplan(module["cells"], netlist.target, device.sites).items():
            module["cells"][cell].setdefault("attributes", {})["BEL"] = site
    return json.dumps(design)


def _clock(report: Mapping[str, Any], module: Mapping[str, Any], netlist: Netlist, grade: int) -> Clock | None:
    if not report["fmax"] or not netlist.target.clocks:
        return None
    name = min(report["fmax"], key=lambda clock: (report["fmax"][clock]["achieved"], clock))
    reported = float(report["fmax"][name]["achieved"])
    claimed, reason = reported, ""
    for limit in netlist.target.limits:
        binds = limit.grade == grade and limit.megahertz < claimed
        if binds and _has(module, limit.cell, limit.parameter, limit.value):
            claimed, reason = float(limit.megahertz), limit.reason
    return Clock(name=name, reported=reported, claimed=claimed, reason=reason)


def _has(module: Mapping[str, Any], cell: str, parameter: str, value: str) -> bool:
    """Is there such a cell whose parameter fits the pattern?"""
    return any(
        found["type"] == cell and (not parameter or fnmatchcase(str(found["parameters"].get(parameter, "")), value))
        for found in module["cells"].values()
    )


def best(placements: list[Placement]) -> Placement:
    """The placement with the highest claim; the first among equals."""
    return max(placements, key=lambda run: (run.clock.claimed if run.clock else 0.0, -run.seed))

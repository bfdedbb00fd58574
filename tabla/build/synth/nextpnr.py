"""Place and route with nextpnr: from a flat netlist to the clock rate and the critical path on a part."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tabla.base.disk import refuse_full
from tabla.base.source import TablaError
from tabla.build.synth.critical_path import CriticalPath, critical_path, fan_outs
from tabla.build.synth.floorplan import floorplan
from tabla.build.synth.tool import last_words, run_tool
from tabla.build.synth.yosys import Netlist
from tabla.templates.targets import Device, Packing

# The clock rate in MHz that nextpnr is asked for. No part can reach it, so nextpnr never stops improving.
_ASKED = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The clock rate of the slowest clock, in MHz.

    `reported` is the figure of nextpnr. `claimed` is the same figure, but never more than the maximum that the data
    sheet gives for a block of the design; `reason` then names that block.
    """

    name: str
    reported: float
    claimed: float
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """The inputs of nextpnr for a whole chip with pins.

    `constraints` is the text of the constraint file, `packing` says which files nextpnr writes for the packer, and
    `megahertz` is the clock rate.
    """

    package: str
    constraints: str
    packing: Packing
    megahertz: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The outcome of one run of nextpnr.

    `report` is nextpnr's own JSON. `routed` is the input of the packer that makes a bitstream; it is empty for a run
    without pins.
    """

    device: Device
    package: str
    grade: int
    seed: int
    clock: Clock | None
    path: CriticalPath | None
    report: Mapping[str, Any] = field(repr=False)
    routed: str = field(default="", repr=False)


def chosen_grade(device: Device, grade: int | None) -> int:
    """Return the requested speed grade, or the first one of the part if `grade` is None.

    A grade that the part does not have is a `TablaError`.
    """
    if grade is None:
        return device.grades[0]
    if grade not in device.grades:
        choices = ", ".join(str(known) for known in device.grades)
        raise TablaError(f"{device.part} has no speed grade {grade}", hint=f"its grades are {choices}")
    return grade


def check_capacity(netlist: Netlist, device: Device) -> None:
    """Raise `TablaError` if the part cannot hold the design. The check comes before the long time of placing."""
    for kind, taken in netlist.taken.items():
        if taken > device.capacity(kind):
            name = netlist.target.title_of(kind)
            raise TablaError(
                f"the design needs {taken} {name}, but {device.part} has {device.capacity(kind)}",
                hint="ask for fewer PEs or a larger device",
            )


def place_and_route(
    netlist: Netlist, device: Device, grade: int | None = None, *, seed: int = 1, pinned: Pinned | None = None
) -> Placement:
    """Run nextpnr once: for a block without pins, or, with `pinned`, for a whole chip.

    Raises `TablaError` if the design does not fit, if the tool is not installed, or if nextpnr fails.
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
            refuse_full(folder, said)
            raise TablaError(
                f"nextpnr failed for {device.part}",
                notes=last_words(said),
                hint="use fewer --pes, more --seeds or a larger --device",
            )
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
    """Return the JSON that nextpnr reads: the netlist, with the sites of the floor plan.

    An accelerator is normally part of a larger design, and it has more ports than chips have pins. So a `block` keeps
    only the ports that the record of the family names, such as the clock. The wires of the other ports stay in the
    netlist without a driver or a reader. nextpnr removes no logic, so no path between registers changes.
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
    """Return whether there is a cell of type `cell` whose parameter fits the pattern `value`."""
    return any(
        found["type"] == cell and (not parameter or fnmatchcase(str(found["parameters"].get(parameter, "")), value))
        for found in module["cells"].values()
    )


def best(placements: list[Placement]) -> Placement:
    """Return the placement with the highest claimed clock rate; of equal ones, that with the lowest seed."""
    return max(placements, key=lambda run: (run.clock.claimed if run.clock else 0.0, -run.seed))

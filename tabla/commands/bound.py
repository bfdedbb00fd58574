"""``tabla bound`` prints a lower bound on the cycles of any schedule, and its reasons."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from tabla.base.layout import folded
from tabla.build.pass_options import PassOptions
from tabla.commands.arguments import (
    add_build,
    add_file,
    add_json,
    add_options,
    add_quiet,
    remark_unused_inputs,
)
from tabla.commands.console import Console
from tabla.commands.models import build_of
from tabla.commands.output import write_json
from tabla.commands.pass_runs import pass_options, show_passes
from tabla.driver import Build
from tabla.learn.options import LearnOptions
from tabla.schedule.bound import Bound, full
from tabla.schedule.bound.explain import Reason, reasons

SCHEMA = "tabla-bound-1"


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command: those of ``gen`` that shape the program and the array."""
    add_file(parser)
    add_build(parser)
    add_options(parser, LearnOptions, PassOptions)
    add_json(parser)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Print the full bound and the reason of each of its terms.

    The command compiles the program first, because the compiler may choose how many roots and sequencers the array has.
    """
    shown = pass_options(arguments)
    made = build_of(arguments, console)
    show_passes(made, shown, console)
    remark_unused_inputs(arguments, console)
    console.progress(f"{arguments.file}: compiling")
    schedule = made.schedule
    console.progress(f"{arguments.file}: bound")
    found = full(made.graph, schedule.template, made.format)
    why = reasons(found, made.graph, schedule.template, made.format, made.reading.text.locate)
    if arguments.json:
        write_json(arguments.json, _json(made, found, why), console)
    if arguments.json != "-":
        console.result(_text(made, found, why, console.width))
    return 0


def _text(made: Build, found: Bound, why: tuple[Reason, ...], width: int | None) -> str:
    schedule = made.schedule
    array = schedule.template
    roots, sequencers, samples = max(1, array.roots), max(1, array.sequencers), schedule.graph.samples
    step = f"a step of {samples} samples" if samples > 1 else "a sample"
    head = [
        f"{made.name}: PEs {array.pes}, roots {roots}, sequencers {sequencers}, {made.format}",
        f"bound        {found.cycles} cycles, set by {found.binding}: no schedule takes fewer for {step}",
        f"cycles       {schedule.cycles}, {schedule.cycles / found.cycles:.2f} times the bound",
    ]
    return "\n".join([*(folded(line, width) for line in head), *(f"\n{reason.text(width)}" for reason in why)])


def _json(made: Build, found: Bound, why: tuple[Reason, ...]) -> dict[str, Any]:
    schedule = made.schedule
    return {
        "schema": SCHEMA,
        "name": made.name,
        "format": str(made.format),
        "pes": schedule.template.pes,
        "roots": max(1, schedule.template.roots),
        "sequencers": max(1, schedule.template.sequencers),
        "samples": schedule.graph.samples,
        "cycles": schedule.cycles,
        "bound": found.cycles,
        "binding": found.binding,
        "ratio": round(schedule.cycles / found.cycles, 6),
        "terms": [reason.as_json() for reason in why],
    }

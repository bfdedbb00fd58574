"""``tabla check`` reports every fault of a program and writes nothing."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tabla.base.source import TablaError
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
from tabla.languages import split
from tabla.learn.options import LearnOptions

SCHEMA = "tabla-check-1"


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    add_build(parser)
    add_options(parser, LearnOptions, PassOptions)
    add_json(parser)
    add_quiet(parser)


def _records(fault: TablaError) -> list[dict[str, object]]:
    one: dict[str, object] = {
        "file": fault.file,
        "line": fault.line,
        "column": fault.column,
        "message": fault.message,
        "hint": fault.hint,
    }
    return [one, *(record for other in fault.more for record in _records(other))]


def run(arguments: Namespace, console: Console) -> int:
    """Compile the program as far as its schedule, so that a program too large for the array is reported, too.

    A program of Tile is Python. Whoever only checks it does not expect that it runs, so the command says so before.
    """
    path, _ = split(arguments.file)
    if path.suffix == ".py":
        console.remark(f"note: {path} is a program of Python: it is run, with all your rights, to see what it builds")
    try:
        shown = pass_options(arguments)
        made = build_of(arguments, console)
        show_passes(made, shown, console)
        made.check()
    except TablaError as fault:
        if arguments.json:
            write_json(arguments.json, {"schema": SCHEMA, "errors": _records(fault), "warnings": []}, console)
        raise
    remark_unused_inputs(arguments, console)
    if arguments.json:
        write_json(arguments.json, {"schema": SCHEMA, "errors": [], "warnings": list(made.warnings)}, console)
    for note in made.warnings:
        console.remark(f"warning: {note}")
    console.remark(f"{arguments.file}: no errors")
    return 0

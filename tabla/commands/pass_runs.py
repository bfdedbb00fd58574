"""``--print-after`` and ``--time-passes``: what the passes of a build do to its graph."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from tabla.base.source import TablaError
from tabla.build.pass_options import ALL, PassOptions
from tabla.build.stages import Stages
from tabla.commands.arguments import record_of
from tabla.commands.console import Console
from tabla.graph.graph import Graph
from tabla.graph.passes.pipeline import PassRun
from tabla.graph.text import graph_file_text

_HEAD = ("group", "round", "pass", "seconds", "operations before", "after")


def pass_options(arguments: Namespace) -> PassOptions:
    """Return what a command is to show of its passes.

    Raises `TablaError` for a pass that there is not, and for texts of graphs that would come between a printed stage or
    JSON.
    """
    options = record_of(arguments, PassOptions)
    if options.print_after:
        if getattr(arguments, "emit", None):
            raise TablaError(
                "--print-after has no meaning with --emit, which prints a stage and nothing else",
                hint="leave one of them out",
            )
        if getattr(arguments, "json", None) == "-":
            raise TablaError(
                "--print-after and --json - both print to standard output", hint="name a file with --json FILE"
            )
    return options


def show_passes(made: Stages, options: PassOptions, console: Console) -> None:
    """Run the passes of a build, and show what the user wants to see of them: texts as they are made, the table last.

    A fault of the program, which is a `TablaError`, comes after the texts of the passes before it.
    """
    if not options.given():
        return
    runs = list[PassRun]()
    for run in made.pass_runs():
        if not runs and ALL in options.print_after:
            _print(run.before, "before the passes", made, console)
        runs.append(run)
        if options.prints(run.which.name):
            _print(run.after, f"after {run.which.name} ({run.group}, round {run.round})", made, console)
    if options.time_passes:
        console.aside_table(_rows(runs))


def _print(graph: Graph, what: str, made: Stages, console: Console) -> None:
    console.verbatim(f"// {what}\n{graph_file_text(graph, made.format, made.integers)}")


def _rows(runs: Sequence[PassRun]) -> list[tuple[str, ...]]:
    """Return the table: a row for each run, and one for their sum."""
    rows = [_HEAD]
    for run in runs:
        before, after = len(run.before.statements), len(run.after.statements)
        rows.append((run.group, str(run.round), run.which.name, f"{run.seconds:.4f}", str(before), str(after)))
    first, last = len(runs[0].before.statements), len(runs[-1].after.statements)
    return [*rows, ("all", "", "", f"{sum(run.seconds for run in runs):.4f}", str(first), str(last))]

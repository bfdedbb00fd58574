"""``tabla eval`` computes the results of a program without hardware."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tabla.commands.arguments import add_build, add_file, add_quiet, add_strict, build_options, whole
from tabla.commands.console import Console
from tabla.commands.output import check_arrays, strict_status, write_arrays
from tabla.driver import build
from tabla.runs import evaluation
from tabla.training.arrays import read_arrays

HELP = "compute the results of the program without hardware, in fixed point or float64"


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    parser.add_argument("--inputs", metavar="FILE.npz", required=True, help="inputs, labels and initial models by name")
    parser.add_argument("-o", "--output", metavar="FILE.npz", required=True, help="write models and results there")
    parser.add_argument("--float", action="store_true", help="compute in float64 instead of the number format")
    parser.add_argument("--samples", type=whole("samples"), metavar="N", help="use only the first N samples")
    parser.add_argument("--seed", type=whole("seed"), metavar="S", help="draw the models that the inputs lack")
    add_strict(parser)
    add_build(parser)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Evaluate the program and write the arrays."""
    check_arrays(arguments.output)
    made = build(arguments.file, build_options(arguments))
    if not arguments.float:
        for note in made.graph.notes:
            console.remark(f"warning: {note}")
    arrays = read_arrays(Path(arguments.inputs))
    found = evaluation(made, arrays, float64=arguments.float, samples=arguments.samples, seed=arguments.seed)
    write_arrays(arguments.output, found.arrays, console)
    if found.events is None:
        return 0
    console.result(found.text())
    return strict_status(arguments, console, found.events.overflows + found.events.domain_errors)

"""``tabla eval``: what a program means, without hardware."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tabla.commands.arguments import add_build, add_file, add_quiet, build_options, whole
from tabla.commands.console import Console
from tabla.commands.output import check_arrays, write_arrays
from tabla.driver import build
from tabla.training.arrays import read_arrays

HELP = "compute what the program means, in fixed point or float64; no hardware"


def configure(parser: ArgumentParser) -> None:
    """Options of the command."""
    add_file(parser)
    parser.add_argument("--inputs", metavar="FILE.npz", required=True, help="inputs, labels, initial models by name")
    parser.add_argument("-o", "--output", metavar="FILE.npz", required=True, help="models after the last step, results")
    parser.add_argument("--float", action="store_true", help="float64 instead of the number format")
    parser.add_argument("--samples", type=whole(1), metavar="N", help="only the first N samples")
    parser.add_argument("--seed", type=whole(0), metavar="S", help="draw models that the inputs do not have")
    add_build(parser)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Evaluate and write the arrays."""
    check_arrays(arguments.output)
    made = build(arguments.file, build_options(arguments))
    if not arguments.float:
        for note in made.graph.notes:
            console.remark(f"warning: {note}")
    arrays = read_arrays(Path(arguments.inputs))
    result = made.evaluate(arrays, float64=arguments.float, samples=arguments.samples, seed=arguments.seed)
    write_arrays(arguments.output, result, console)
    return 0

"""``--format auto`` on the command line: the options about its data, and what is printed of the choice."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial

from tabla.build.stages import Stages
from tabla.commands.arguments import build_options, input_options, whole
from tabla.commands.console import Console
from tabla.commands.learning import add_preparation, add_start
from tabla.driver import Build, build
from tabla.learn.auto_format import for_inputs


def add_choice(parser: ArgumentParser) -> None:
    """Add the options of a command that takes data for nothing but the choice of the number format."""
    group = parser.add_argument_group("the data that --format auto chooses by")
    group.add_argument("--data", metavar="FILE", help="the samples to learn from: .npz, or .csv with a header")
    text = "passes over the data in float64 (default 1)"
    group.add_argument("--epochs", type=whole("epochs"), metavar="N", help=text)
    text = "leave out the share A of the samples as test part, and the share B as validation part"
    group.add_argument("--split", metavar="A[,B]", help=text)
    text = "choose the samples that are left out by the seed S (default 0)"
    group.add_argument("--split-seed", type=whole("split_seed"), metavar="S", help=text)
    add_preparation(parser)
    add_start(parser, None)


def build_for_inputs(arguments: Namespace) -> Build:
    """Return the build of a command with ``--inputs``, which choose the format if the options leave it to them."""
    made = partial(build, arguments.file)
    return made(*for_inputs(made, build_options(arguments), arguments.inputs, **input_options(arguments)))


def tell_choice(made: Stages, arguments: Namespace, console: Console) -> None:
    """Print by what the format was chosen, if it was chosen from data and standard output is not for JSON."""
    if made.format_choice is not None and getattr(arguments, "json", None) != "-":
        for line in made.format_choice.lines():
            console.result(line)
        console.result("")

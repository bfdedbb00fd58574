"""``tabla train`` trains a program's models on the simulated accelerator."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial

from tabla.build.stages import format_entry
from tabla.commands.arguments import (
    add_build,
    add_data,
    add_file,
    add_json,
    add_options,
    add_quiet,
    build_options,
    record_of,
)
from tabla.commands.choosing import tell_choice
from tabla.commands.console import Console
from tabla.commands.models import program_to_learn
from tabla.commands.output import check_arrays, cycle_status, write_arrays, write_json
from tabla.driver import build
from tabla.learn.auto_format import for_learning
from tabla.learn.data.dataset import Data
from tabla.learn.data.options import DataOptions
from tabla.learn.fleet.costs import scaling, scaling_lines
from tabla.learn.options import LearnOptions
from tabla.learn.train import train


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    add_data(parser, required=True)
    parser.add_argument("-o", "--output", metavar="FILE.npz", help="write the trained models there")
    text = "exit with 1 after an overflow, a domain error or a zero update"
    parser.add_argument("--strict", action="store_true", help=text)
    text = "also compile the share of 1, 2, 4, 8 and 16 devices, and print what a step costs with each"
    parser.add_argument("--scaling", action="store_true", help=text)
    add_build(parser)
    add_options(parser, DataOptions, LearnOptions)
    add_json(parser)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Train the models, write them and print the report."""
    check_arrays(arguments.output)
    data = Data.of_source(arguments.data, record_of(arguments, DataOptions))
    made_by = partial(build, program_to_learn(arguments, console, "trained"))
    learning = record_of(arguments, LearnOptions)
    made = made_by(*for_learning(made_by, build_options(arguments), data, learning))
    for note in made.warnings:
        console.remark(f"warning: {note}")
    console.progress(f"{arguments.file}: compiling")
    training = train(
        made,
        data,
        learning,
        report=lambda progress: console.progress(str(progress)),
        remark=console.remark,
    )
    if arguments.output:
        write_arrays(arguments.output, training.stored(), console)
    costs = scaling(made) if arguments.scaling else ()
    if arguments.json:
        scales = {"scaling": [cost.as_json() for cost in costs]} if costs else {}
        write_json(arguments.json, {**training.as_json(), **scales, **format_entry(made.format_choice)}, console)
    tell_choice(made, arguments, console)
    if arguments.json != "-":
        text = training.text(unicode=console.unicode, width=console.width)
        console.report("\n".join([text, *scaling_lines(costs, console.width)]))
    if cycle_status(console, as_predicted=training.as_predicted):
        return 1
    if arguments.strict and not training.clean:
        console.fault(
            "error: --strict: there were overflows, domain errors or zero updates\n"
            "hint: use more bits with --format, or scale the data"
        )
        return 1
    return 0

"""``tabla train`` trains a program's models on the simulated accelerator."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial

from tabla.build.stages import format_entry
from tabla.commands.arguments import add_build, add_engine, add_file, add_json, add_quiet, build_options, names, whole
from tabla.commands.choosing import tell_choice
from tabla.commands.console import Console
from tabla.commands.learning import add_data, add_epochs, learning_options
from tabla.commands.output import check_arrays, cycle_status, write_arrays, write_json
from tabla.driver import build
from tabla.learn.auto_format import for_learning
from tabla.learn.fleet.costs import scaling, scaling_lines
from tabla.learn.metrics import NAMES
from tabla.learn.train import learning_start


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    add_data(parser)
    add_held_out(parser)
    add_epochs(parser)
    add_fleet(parser)
    parser.add_argument("--metric", choices=NAMES, metavar="NAME", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("-o", "--output", metavar="FILE.npz", help="write the trained models there")
    add_engine(parser, trains=True)
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 after an overflow, a domain error or a zero update"
    )
    add_build(parser)
    add_json(parser)
    add_quiet(parser)


def add_held_out(parser: ArgumentParser) -> None:
    """Add the options about samples that are not learnt from."""
    group = parser.add_argument_group("samples that are held out: scored after each epoch, and never learnt from")
    group.add_argument("--test", metavar="FILE", help="the test part, in a file of its own: .npz or .csv")
    text = "hold out the share A of the samples as test part, and the share B as validation part"
    group.add_argument("--split", metavar="A[,B]", help=text)
    text = "choose the samples that are held out by the seed S (default 0)"
    group.add_argument("--split-seed", type=whole("split_seed"), metavar="S", help=text)
    text = "stop after N epochs without a smaller validation loss, and keep the models of the best epoch"
    group.add_argument("--patience", type=whole("patience"), metavar="N", help=text)


def add_fleet(parser: ArgumentParser) -> None:
    """Add the options about several devices that learn one model."""
    group = parser.add_argument_group("several devices, one model")
    text = "share each minibatch among N simulated devices, or among boards: serial:/dev/ttyUSB0,serial:/dev/ttyUSB1"
    group.add_argument("--devices", type=devices, metavar="N|BOARD,...", help=text)
    text = "let the workers of a Dask cluster simulate the devices, such as tcp://host:8786"
    group.add_argument("--scheduler", metavar="ADDRESS", help=text)
    text = "also compile the share of 1, 2, 4, 8 and 16 devices, and print what a step costs with each"
    group.add_argument("--scaling", action="store_true", help=text)


def devices(text: str) -> int | list[str]:
    """Read a number of devices, or the names of boards."""
    return names(text) if ":" in text else whole("devices")(text)


def run(arguments: Namespace, console: Console) -> int:
    """Train the models, write them and print the report."""
    check_arrays(arguments.output)
    about_data = {**learning_options(arguments), "test": arguments.test}
    made_by = partial(build, arguments.file)
    made = made_by(
        *for_learning(
            made_by,
            build_options(arguments),
            lambda wide: learning_start(wide, arguments.data, **about_data),
            arguments.epochs,
            arguments.predict,
        )
    )
    for note in made.warnings:
        console.remark(f"warning: {note}")
    console.progress(f"{arguments.file}: compiling")
    training = made.train(
        arguments.data,
        **about_data,
        epochs=arguments.epochs,
        predict=arguments.predict,
        metric=arguments.metric,
        engine=arguments.engine,
        devices=arguments.devices,
        scheduler=arguments.scheduler,
        patience=arguments.patience,
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
        console.result("\n".join([training.text(unicode=console.unicode), *scaling_lines(costs)]))
    if cycle_status(console, as_predicted=training.as_predicted):
        return 1
    if arguments.strict and not training.clean:
        console.fault(
            "error: --strict: there were overflows, domain errors or zero updates\n"
            "hint: use more bits with --format, or scale the data"
        )
        return 1
    return 0

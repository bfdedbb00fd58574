"""``tabla test`` scores trained models on data that they have not seen."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tabla.commands.arguments import (
    add_build,
    add_engine,
    add_file,
    add_json,
    add_quiet,
    add_strict,
    add_table,
    build_options,
    table_options,
    whole,
)
from tabla.commands.console import Console
from tabla.commands.output import cycle_status, strict_status, write_json
from tabla.driver import build
from tabla.training.metrics import NAMES

HELP = "score trained models on data that they have not seen, without learning"


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    text = "the models, as tabla train -o wrote them (default: those that a model of ONNX brings)"
    parser.add_argument("--weights", metavar="FILE.npz", help=text)
    parser.add_argument("--data", metavar="FILE", required=True, help="the samples: .npz, or .csv with a header")
    add_table(parser)
    parser.add_argument("--predict", metavar="NAME", help="the value to compare with the label")
    parser.add_argument("--metric", choices=NAMES, metavar="NAME", help=f"one of {', '.join(NAMES)}")
    add_engine(parser)
    parser.add_argument("--samples", type=whole("samples"), metavar="N", help="use only the first N samples")
    add_strict(parser)
    add_build(parser)
    add_json(parser)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Score the models and print the report."""
    made = build(arguments.file, build_options(arguments))
    console.progress(f"{arguments.file}: scoring")
    tested = made.test(
        arguments.data,
        weights=arguments.weights,
        predict=arguments.predict,
        metric=arguments.metric,
        engine=arguments.engine,
        samples=arguments.samples,
        **table_options(arguments),
    )
    if arguments.json:
        write_json(arguments.json, tested.as_json(), console)
    if arguments.json != "-":
        console.result(tested.text())
    events = tested.events.overflows + tested.events.domain_errors
    return cycle_status(console, as_predicted=tested.as_predicted) or strict_status(arguments, console, events)

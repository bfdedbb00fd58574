"""``tabla predict`` predicts for new data with trained models."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tabla.base.folder import check_file, replaced_file
from tabla.base.source import TablaError
from tabla.commands.arguments import add_build, add_data, add_options, add_quiet, add_strict, record_of
from tabla.commands.console import Console
from tabla.commands.models import build_for_models
from tabla.commands.output import strict_status, write_arrays
from tabla.learn.data.dataset import Data
from tabla.learn.data.options import DataOptions
from tabla.learn.options import LearnOptions
from tabla.learn.predict import predict


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    text = (
        "the models with their program, as tabla train -o wrote them; or the program, and --weights (default: those of"
    )
    text += " tabla.toml)"
    parser.add_argument("file", metavar="FILE", nargs="?", help=text)
    add_data(parser, required=True)
    text = "write the predictions there, a row for each row of the data: .csv or .npz"
    parser.add_argument("-o", "--output", metavar="FILE", help=text)
    add_strict(parser)
    add_build(parser)
    add_options(parser, DataOptions, LearnOptions)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Predict, write the predictions and print what they are."""
    where = None if arguments.output is None else Path(arguments.output)
    if where is not None:
        if where.suffix not in (".csv", ".npz"):
            raise TablaError(f"predictions cannot be written to '{where}'", hint="name a file .csv or .npz with -o")
        check_file(where)
    made = build_for_models(arguments, console, "used")
    console.progress(f"{arguments.file}: predicting")
    data = Data.of_source(arguments.data, record_of(arguments, DataOptions))
    found = predict(made, data, record_of(arguments, LearnOptions))
    if where is not None and where.suffix == ".npz":
        write_arrays(str(where), found.arrays(), console)
    elif where is not None:
        with replaced_file(where) as path:
            path.write_text(found.csv(), encoding="utf-8", newline="\n")
        console.remark(f"written      {where}")
    console.report(found.text())
    return strict_status(arguments, console, found.events.overflows + found.events.domain_errors)

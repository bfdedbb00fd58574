"""``tabla formats`` compares number formats by what they learn, on a validation part."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace

from tabla.build.options import Options
from tabla.commands.arguments import add_data, add_file, add_json, add_options, add_quiet, record_of, series
from tabla.commands.console import Console
from tabla.commands.models import program_to_learn
from tabla.commands.output import write_json
from tabla.languages.options import ProgramOptions
from tabla.learn.data.dataset import Data
from tabla.learn.data.options import DataOptions
from tabla.learn.formats import GUARD, GUARDS, WIDTH, WIDTHS, table_of
from tabla.learn.options import LearnOptions


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command. The array does not matter, because every array gives the same words."""
    add_file(parser)
    add_data(parser, required=True)
    text = f"bits of words, such as 8,12 or 8-18 (default {WIDTHS[0]}-{WIDTHS[-1]})"
    parser.add_argument("--widths", type=series(WIDTH), default=tuple(WIDTHS), metavar="N,...", help=text)
    text = f"guard bits of models, such as 0,4 (default {','.join(map(str, GUARDS))})"
    parser.add_argument("--guards", type=series(GUARD), default=GUARDS, metavar="G,...", help=text)
    add_options(parser, DataOptions, LearnOptions, ProgramOptions)
    add_json(parser)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Compare the formats and print the table."""
    source = program_to_learn(arguments, console, "compared")
    found = table_of(
        source,
        replace(record_of(arguments, Options), format="auto"),
        Data.of_source(arguments.data, record_of(arguments, DataOptions)),
        record_of(arguments, LearnOptions),
        arguments.widths,
        arguments.guards,
        console.remark,
    )
    if arguments.json:
        write_json(arguments.json, found.as_json(), console)
    if arguments.json != "-":
        console.report(found.text())
    return 0

"""``tabla examples``: programs to start from, with the data that they learn from."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tabla.commands.console import Console
from tabla.examples.catalogue import EXAMPLES, write
from tabla.source import TablaError

HELP = "list the examples, or write some with their data"


def configure(parser: ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="which examples, or 'all'; none: list them")
    parser.add_argument("-o", "--output", metavar="FOLDER", default=".", help="where to (default here)")


def run(arguments: Namespace, console: Console) -> int:
    """Without a name a list; else the files. Files of the same names are replaced."""
    if not arguments.names:
        for example in EXAMPLES.values():
            console.result(f"{example.name:<12} {example.about:<36} {example.data}")
        return 0
    names = list(EXAMPLES) if arguments.names == ["all"] else arguments.names
    for name in names:
        if name not in EXAMPLES:
            raise TablaError(f"there is no example '{name}'", hint=f"there are {', '.join(EXAMPLES)}")
    for name in names:
        for path in write(EXAMPLES[name], Path(arguments.output)):
            console.result(f"{path}")
    return 0

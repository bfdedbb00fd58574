"""``tabla examples`` writes example programs with the data that they learn from."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tabla.base.folder import check_writable
from tabla.base.source import TablaError
from tabla.commands.console import Console
from tabla.examples.catalogue import EXAMPLES, write


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="the examples to write, or 'all'; without a name, list them"
    )
    parser.add_argument("-o", "--output", metavar="FOLDER", help="the output folder (default: the current one)")


def run(arguments: Namespace, console: Console) -> int:
    """Write the named examples, or list all of them if none is named.

    An option without an effect, an unknown name and a file that is there with other content are a `TablaError`.
    """
    if not arguments.names:
        if arguments.output is not None:
            raise TablaError("-o has nothing to write, because no example is named", hint="name some, or write all")
        rows = [(example.name, example.about, example.data) for example in EXAMPLES.values()]
        console.table(rows, texts=range(3))
        return 0
    folder = Path(arguments.output or ".")
    names = list(EXAMPLES) if "all" in arguments.names else list(dict.fromkeys(arguments.names))
    for name in names:
        if name not in EXAMPLES:
            raise TablaError(f"there is no example '{name}'", hint=f"there are {', '.join(EXAMPLES)}")
    check_writable(folder)
    for path in write([EXAMPLES[name] for name in names], folder):
        console.result(f"{path}")
    return 0

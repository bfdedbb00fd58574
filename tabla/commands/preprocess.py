"""``tabla preprocess`` prints a text with every ``$name`` replaced, as the front ends read it."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tabla.base.folder import check_file, replaced_file
from tabla.base.source import Source, TablaError
from tabla.commands.arguments import add_options
from tabla.commands.console import Console
from tabla.languages.options import ProgramOptions
from tabla.languages.preprocess import preprocess


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("file", metavar="FILE", help="a text whose scopes are in braces, such as a .t or .tc file")
    parser.add_argument("--values", action="store_true", help="print the definitions instead, one per line")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file instead of standard output")
    add_options(parser, ProgramOptions)


def run(arguments: Namespace, console: Console) -> int:
    """Print or write the expanded text."""
    if arguments.output is not None:
        check_file(Path(arguments.output))
    defines = dict(arguments.defines)
    expanded = preprocess(Source.from_path(arguments.file), defines)
    for name in defines:
        # In a .t file a definition may also be for a constant, which has no $ in the text.
        constant = arguments.file.endswith(".t") and re.search(
            rf"(?<![\w$]){re.escape(name)}\s*=", expanded.source.text
        )
        if name not in expanded.used and not constant:
            raise TablaError(f"-D {name}: '{arguments.file}' does not use ${name}", hint="leave it out")
    text = expanded.values() if arguments.values else expanded.source.text
    if arguments.output is None:
        console.verbatim(text)
        return 0
    with replaced_file(Path(arguments.output)) as path:
        path.write_text(text, encoding="utf-8", newline="\n")
    return 0

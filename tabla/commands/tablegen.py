"""``tabla tblgen`` runs the TableGen front end on its own."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tabla.commands.console import Console
from tabla.lang import tablegen
from tabla.report.folder import check_file, replaced_file

HELP = "read TableGen records and print them"


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("file", metavar="FILE.td", help="the file with the records")
    parser.add_argument("-I", dest="include", action="append", default=[], metavar="DIR", help="search includes there")
    parser.add_argument("-D", dest="macros", action="append", default=[], metavar="MACRO", help="define it for #ifdef")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--print-records", dest="action", action="store_const", const="print-records")
    action.add_argument("--dump-json", dest="action", action="store_const", const="dump-json")
    action.add_argument("--null-backend", dest="action", action="store_const", const="null-backend")
    parser.set_defaults(action="print-records")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file instead of standard output")


def run(arguments: Namespace, console: Console) -> int:
    """Read the records, and print or write the output of the chosen action."""
    if arguments.output is not None:
        check_file(Path(arguments.output))
    text = tablegen.run(
        arguments.file, include_dirs=arguments.include, macros=arguments.macros, action=arguments.action
    )
    if arguments.output is None:
        console.verbatim(text)
        return 0
    with replaced_file(Path(arguments.output)) as path:
        path.write_text(text, encoding="utf-8", newline="\n")
    return 0

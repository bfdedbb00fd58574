"""``tabla tblgen`` runs the TableGen front end on its own, with the options of ``llvm-tblgen``."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tabla.base.folder import check_file, replaced_file
from tabla.base.source import Source, TablaError
from tabla.commands.console import Console
from tabla.commands.overwriting import check_unread
from tabla.templates import tablegen

# The name of standard input and of standard output on the command line.
_STANDARD = "-"


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command. Long ones may have one dash, as in ``llvm-tblgen``."""
    parser.add_argument("file", metavar="FILE.td", help="the file with the records, or - for standard input")
    parser.add_argument("-I", dest="include", action="append", default=[], metavar="DIR", help="search includes there")
    parser.add_argument("-D", dest="macros", action="append", default=[], metavar="MACRO", help="define it for #ifdef")
    actions = parser.add_mutually_exclusive_group()
    for name in ("print-records", "dump-json", "null-backend"):
        actions.add_argument(f"--{name}", f"-{name}", dest="action", action="store_const", const=name)
    parser.set_defaults(action="print-records")
    parser.add_argument(
        "--no-warn-on-unused-template-args",
        "-no-warn-on-unused-template-args",
        dest="warn_of_unused",
        action="store_false",
        help="accept template arguments that no value names in silence",
    )
    parser.add_argument(
        "--llvm",
        type=int,
        choices=tablegen.LLVM_VERSIONS,
        default=tablegen.LLVM_VERSIONS[0],
        help="answer as llvm-tblgen of this version where the versions differ (default: %(default)s)",
    )
    parser.add_argument("-d", dest="dependencies", metavar="FILE", help="write the included files as a rule of make")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file instead of standard output")


def run(arguments: Namespace, console: Console) -> int:
    """Read the records, and print or write the output of the chosen action."""
    output = None if arguments.output == _STANDARD else arguments.output
    if arguments.dependencies is not None and output is None:
        raise TablaError("-d needs -o", hint="the rule of make has the name of the output: give -o FILE")
    outputs = (("-o", output), ("-d", arguments.dependencies))
    files = [(option, name) for option, name in outputs if name is not None and name != _STANDARD]
    for _, name in files:
        check_file(Path(name))
    records = tablegen.load(
        _standard_input() if arguments.file == _STANDARD else arguments.file,
        include_dirs=arguments.include,
        macros=arguments.macros,
        say=console.remark,
        warn_of_unused=arguments.warn_of_unused,
        llvm=arguments.llvm,
    )
    for option, name in files:
        check_unread(option, name, records.dependencies)
    text = tablegen.written(records, arguments.action)
    if arguments.dependencies is not None:
        included = " ".join(_of_make(name, r"[ #:]") for name in sorted(set(records.dependencies)))
        # A percent sign makes a pattern of a target. In a prerequisite it has no such meaning.
        rule = f"{_of_make(str(output), r'[ #:%]')}: {included}\n"
        _write(rule, arguments.dependencies, console)
    _write(text, output or _STANDARD, console)
    return 0


def _of_make(name: str, special: str) -> str:
    """Return the name of a file as a rule of make writes it, with a backslash before each sign that `special` matches.

    Make halves the backslashes that stand right before such a sign, and no others.
    """
    return re.sub(rf"(\\*)({special})", r"\1\1\\\2", name).replace("$", "$$")


def _standard_input() -> Source:
    return Source.from_bytes(sys.stdin.buffer.read(), "<stdin>")


def _write(text: str, name: str, console: Console) -> None:
    if name == _STANDARD:
        console.verbatim(text)
        return
    with replaced_file(Path(name)) as path:
        path.write_text(text, encoding="utf-8", newline="\n")

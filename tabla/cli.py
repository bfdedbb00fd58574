"""The command line: arguments, where text goes, exit status.

0: done. 1: a fault of the user's program or data. 2: a fault of usage. Faults of ours keep their traceback.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from tabla._version import VERSION
from tabla.commands.console import Console
from tabla.source import TablaError

# Command name -> module of tabla.commands with HELP, configure(parser) and run(arguments, console) -> status.
COMMANDS = {
    "gen": "gen",
    "check": "check",
    "bound": "bound",
    "eval": "evaluate",
    "sim": "simulate",
    "train": "train",
    "synth": "synthesise",
    "build": "bitstream",
    "ranges": "ranges",
    "preprocess": "preprocess",
    "tblgen": "tablegen",
    "templates": "templates",
    "targets": "targets",
    "boards": "boards",
    "examples": "examples",
}


class Parser(argparse.ArgumentParser):
    """Says `error: ` first, as every fault does."""

    def error(self, message: str) -> NoReturn:
        """A fault of usage."""
        self.exit(2, f"error: {message}\nhint: {self.prog} --help\n")


def parser_for(command: str | None) -> Parser:
    """The parser of all commands; only `command` gets its options, so that the others need not be imported."""
    parser = Parser(prog="tabla", description="From the gradient of a loss to an FPGA accelerator.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"tabla {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name, module in COMMANDS.items():
        if command in COMMANDS and name != command:
            commands.add_parser(name)
            continue
        found = import_module(f"tabla.commands.{module}")
        sub = commands.add_parser(name, help=found.HELP, description=found.HELP, allow_abbrev=False)
        found.configure(sub)
        sub.set_defaults(run=found.run)
    return parser


def _check_json(where: str | None) -> None:
    """Refuse, before any work, a name for JSON that cannot be written at its end."""
    if where and where != "-":
        from tabla.report.folder import check_file

        check_file(Path(where))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    console = Console(out=sys.stdout, err=sys.stderr)
    command = next((word for word in words if not word.startswith("-")), None)
    try:
        parsed = parser_for(command).parse_args(words)
    except SystemExit as stop:  # argparse's way to say that it is done
        return int(stop.code or 0)
    console.quiet = getattr(parsed, "quiet", False)
    try:
        _check_json(getattr(parsed, "json", None))
        status: int = parsed.run(parsed, console)
        sys.stdout.flush()
        return status
    except TablaError as fault:
        console.fault(str(fault))
        return 1
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); Python would complain again when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as fault:
        place = f" '{fault.filename}'" if fault.filename else ""
        console.fault(f"error: {fault.strerror or fault}{place}")
        return 1
    except MemoryError:
        console.fault("error: the memory of this machine is not enough\nhint: use smaller sizes, or less data at once")
        return 1
    except KeyboardInterrupt:
        # Half-made hardware would complain that nobody uses it.
        warnings.simplefilter("ignore")
        console.fault("error: interrupted")
        return 130

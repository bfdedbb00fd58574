"""``tabla completion`` prints a script that lets a shell complete commands, options and their values.

The package shtab writes it from the parsers of all commands. The script holds all words itself, so a press of Tab runs
no Python (decision 39).
"""

from __future__ import annotations

import re
from argparse import Action, ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Callable, Iterable, Iterator

from tabla.build.pass_options import ALL
from tabla.commands.console import Console
from tabla.graph.passes.inference import predicting
from tabla.graph.passes.pipeline import all_passes
from tabla.host.engines.session import ENGINES, EVALUATION
from tabla.templates.targets import boards, targets
from tabla.templates.template import formats, presets

SHELLS = ("bash", "zsh", "fish")
_FOLDER = re.compile(r"FOLDER|DIR\b")
_FILE = re.compile(r"FILE|PATH")
_NAMES: dict[str, Callable[[], Iterable[str]]] = {
    "--target": targets,
    "--device": lambda: (device.name for target in targets().values() for device in target.devices),
    "--board": boards,
    "--template": presets,
    "--format": lambda: ("auto", "auto8", "auto16", *sorted({number.text for number in formats().values()})),
    "--print-after": lambda: (ALL, *(each.name for each in all_passes())),
    "PASS": lambda: (each.name for each in (*all_passes(), predicting)),
    "--engine": lambda: (EVALUATION, *ENGINES),
}
"""The values of options that are no choices for the parser, because users may add records of their own, and those that
have a metavar such as ``PASS``."""


def configure(parser: ArgumentParser) -> None:
    """Add the argument of the command."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"the shell: {', '.join(SHELLS)}")


def run(arguments: Namespace, console: Console) -> int:
    """Print the script for a shell."""
    console.verbatim(script(arguments.shell))
    return 0


def script(shell: str) -> str:
    """Return the script for a shell. The same commands give the same text."""
    import shtab

    from tabla.commands.cli import COMMANDS, parser_for

    parser = parser_for(*COMMANDS)
    helped = next(a for a in parser._actions if isinstance(a, _SubParsersAction)).add_parser(
        "help", help="print the options of a command"
    )
    helped.add_argument("about", choices=tuple(COMMANDS), metavar="COMMAND", nargs="?")
    for action in _actions(parser):
        metavar = " ".join(action.metavar) if isinstance(action.metavar, tuple) else action.metavar or ""
        names = next((_NAMES[key] for key in (*action.option_strings, metavar) if key in _NAMES), None)
        if names is not None and action.choices is None:
            action.choices = tuple(names())
        elif action.choices is None and _FILE.search(metavar):
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # the attribute that shtab reads
        elif action.choices is None and _FOLDER.search(metavar):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell=shell))


def _actions(parser: ArgumentParser) -> Iterator[Action]:
    """Yield the options and arguments of a parser and of its commands."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
        else:
            yield action

"""From the records of options to the parser of a command, and from parsed arguments back to records.

The functions ``add_...`` add to a parser what is no option of a record, and belongs to several commands.
"""

from __future__ import annotations

import re
from argparse import Action, ArgumentError, ArgumentParser, ArgumentTypeError, Namespace, _ActionsContainer
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tabla.base.kinds import Choice, Kind, NumberChoice
from tabla.base.options import Option, Record, options_of
from tabla.base.parameters import Whole
from tabla.base.source import TablaError
from tabla.build.options import ArrayOptions, Options
from tabla.commands.console import Console
from tabla.languages.options import ProgramOptions

_EITHER = {"weights": "seed", "seed": "weights"}
"""Options of which a command that learns takes one, because both say what the models start from."""
_RECORDS = ("template", "format", "part", "target", "board")
"""The options that may name a record of ``--templates``."""
RecordType = TypeVar("RecordType", bound=Record)


class Named(Action):
    """Collect the pairs of NAME=VALUE of an option that may be repeated. A name with two values is an error."""

    def __call__(self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: Any = None) -> None:
        name, value = values
        given = getattr(namespace, self.dest)
        if any(other == name and one != value for other, one in given):
            raise ArgumentError(self, f"'{name}' is given twice, with two values")
        setattr(namespace, self.dest, [*given, values])


def reader(kind: Kind | Whole) -> Callable[[str], Any]:
    """Return a function that reads a value of a kind, or a whole number by its rule, for argparse."""

    def convert(text: str) -> Any:
        try:
            return kind.read(text)
        except TablaError as fault:
            raise wrong_argument(fault) from None

    return convert


def wrong_argument(fault: TablaError) -> ArgumentTypeError:
    """Return a fault of a value as argparse reports it. The parser prints the lines of a message as they are."""
    return ArgumentTypeError(f"{fault.message}\nhint: {fault.hint}" if fault.hint else fault.message)


def series(rule: Whole) -> Callable[[str], tuple[int, ...]]:
    """Return a function that reads ``4,6,8``, ``4..64`` for each doubling, and ``4-7`` for every number, in order."""
    whole = reader(rule)

    def convert(text: str) -> tuple[int, ...]:
        found: list[int] = []
        for part in text.split(","):
            # A dash at the beginning is a sign, which no range begins with.
            ends = re.fullmatch(r"\s*([^\s.-]+)\s*(\.\.|-)\s*(\S+)\s*", part)
            first, last = (whole(ends[1]), whole(ends[3])) if ends else (whole(part.strip()),) * 2
            if last < first:
                raise ArgumentTypeError(f"'{part.strip()}' holds no number, because {last} is less than {first}")
            if ends and ends[2] == "-" and last - first >= 1000:
                raise ArgumentTypeError(f"'{part.strip()}' holds too many numbers")
            while first <= last:
                found.append(first)
                first = 2 * first if ends and ends[2] == ".." else first + 1
        return tuple(sorted(set(found)))

    return convert


def command_of(parser: ArgumentParser) -> str:
    """Return the name of the command that a parser is for."""
    return parser.prog.rpartition(" ")[2]


def group_of(parser: ArgumentParser, title: str) -> _ActionsContainer:
    """Return the group of a parser with a title, which is a new one if there is none."""
    found = next((group for group in parser._action_groups if group.title == title), None)
    return found or parser.add_argument_group(title)


def add_options(parser: ArgumentParser, *records: type[Record]) -> None:
    """Add the options of records that belong to the command of the parser, each under the title of its group."""
    command = command_of(parser)
    either: dict[str, _ActionsContainer] = {}
    for record in records:
        for name, option in options_of(record).items():
            if command not in option.commands:
                continue
            group = group_of(parser, option.group)
            if name in _EITHER and command not in ("eval", "sim", "test"):
                pair = min(name, _EITHER[name])
                group = either.get(pair) or either.setdefault(pair, group.add_mutually_exclusive_group())
            _add(group, command, option)


def _add(group: _ActionsContainer, command: str, option: Option) -> None:
    kind = option.kind_of(command)
    told: dict[str, Any] = {"dest": option.name, "help": option.help_of(command).replace("%", "%%")}
    match kind.takes:
        case "switch":
            told |= {"action": "store_true"}
        case "pairs":
            told |= {"action": Named, "type": reader(kind), "default": [], "metavar": option.metavar_of(command)}
        case "names":
            told |= {"action": "append", "type": reader(kind), "default": [], "metavar": option.metavar_of(command)}
        case "lists":
            told |= {"action": "extend", "type": reader(kind), "nargs": "+", "metavar": option.metavar_of(command)}
        case _:
            told |= {"type": reader(kind), "required": command in option.required}
            if isinstance(kind, Choice | NumberChoice):
                told["choices"] = kind.values
            if metavar := option.metavar_of(command):
                told["metavar"] = metavar
    group.add_argument(option.flag, **told)


def record_of(arguments: Namespace, record: type[RecordType]) -> RecordType:
    """Return a record with the options that a command was given. One that is wrong is a `TablaError`."""
    given: dict[str, Any] = {}
    for name, option in options_of(record).items():
        value = getattr(arguments, name, None)
        if arguments.command not in option.commands or value is None or value is False or value == []:
            continue
        match option.kind_of(arguments.command).takes:
            case "names":
                value = tuple(dict.fromkeys(one for group in value for one in group))
            case "pairs":
                value = dict(value)
            case "lists":
                value = _of_lists(option, value)
        given[name] = value
    return record(**given)


def _of_lists(option: Option, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for name, _ in pairs:
        if sum(other == name for other, _ in pairs) > 1:
            raise TablaError(f"{option.flag} names '{name}' twice", hint=f"write {name}=a,b once, with all its columns")
    return dict(pairs)


def add_file(parser: ArgumentParser) -> None:
    """Add the program, the one argument without a name."""
    text = "the program: model.t, kernel.tc[:def], layer.py:function, layer.cpp:function, x.ir[:function], x.kernel,"
    text += " x.graph, model.onnx, or that of models.npz (default: that of tabla.toml)"
    parser.add_argument("file", metavar="FILE", nargs="?", help=text)


def add_quiet(parser: ArgumentParser) -> None:
    """Add ``--quiet``, which drops progress and remarks."""
    parser.add_argument("-q", "--quiet", action="store_true", help="print no progress and no remarks")


def add_strict(parser: ArgumentParser) -> None:
    """Add the option ``--strict`` of commands that compute without learning."""
    parser.add_argument("--strict", action="store_true", help="exit with 1 after an overflow or a domain error")


def add_json(parser: ArgumentParser) -> None:
    """Add ``--json``, which writes the results in a form for programs."""
    parser.add_argument("--json", metavar="FILE", help="write the results as JSON; '-' is standard output")


def add_own_records(parser: ArgumentParser) -> None:
    """Add ``--templates`` for the commands that list records."""
    parser.add_argument("--templates", metavar="FILE.td", help="also list the records of this file")


def add_data(parser: ArgumentParser, *, required: bool) -> None:
    """Add ``--data``, the samples."""
    text = "the samples: .npz, or .csv with a header"
    parser.add_argument("--data", metavar="FILE", required=required, help=text)


def add_build(parser: ArgumentParser) -> None:
    """Add the options of the program and of the array."""
    add_options(parser, ArrayOptions, ProgramOptions)


def build_options(arguments: Namespace) -> Options:
    """Return the options of a build. Raises `TablaError` if ``--templates`` names a file and nothing of it is used."""
    options = record_of(arguments, Options)
    options.refuse_unused_records(*(getattr(arguments, name, None) for name in _RECORDS))
    return options


def remark_unused_inputs(arguments: Namespace, console: Console) -> None:
    """Say that the file of ``--inputs`` has no effect on a program that declares its sizes itself.

    A file that cannot be read is a `TablaError`, as it is for a kernel.
    """
    if arguments.inputs is not None and arguments.file.endswith(".t"):
        from tabla.base.arrays import read_arrays

        read_arrays(Path(arguments.inputs))
        console.remark(
            f"note: --inputs has no effect: it gives sizes to kernels, and '{arguments.file}' declares its sizes itself"
        )

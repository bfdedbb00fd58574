"""Options that several commands share, and what they mean to the driver."""

from __future__ import annotations

import ast
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace, _ActionsContainer
from collections.abc import Callable

from tabla.mapping.effort import DEFAULT_EFFORT, EFFORTS
from tabla.options import Options
from tabla.simulation import ENGINES, checked_engine
from tabla.source import TablaError


def definition(text: str) -> tuple[str, str]:
    """``NAME=VALUE`` of ``-D``."""
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"\w+'?", name, re.ASCII) or not value:
        raise ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    return name, value


def size(text: str) -> tuple[str, int]:
    """``NAME=NUMBER`` of ``--size``."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ArgumentTypeError(f"'{text}' is not NAME=NUMBER")
    return name, whole(1)(value)


def shape(text: str) -> tuple[str, tuple[int, ...]]:
    """``NAME=2,8,3`` of ``--shape``; ``NAME=`` is a single value."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ArgumentTypeError(f"'{text}' is not NAME=SIZE,SIZE,...")
    return name, tuple(whole(1)(each) for each in value.split(",")) if value else ()


def argument(text: str) -> tuple[str, object]:
    """``NAME=VALUE`` of ``--arg``: a Python number, tuple, list, string in quotes or True; else a string."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def whole(low: int) -> Callable[[str], int]:
    """A whole number of at least `low`."""

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ArgumentTypeError(f"'{text}' is not a whole number") from None
        if number < low:
            raise ArgumentTypeError(f"{number} is less than {low}")
        return number

    return convert


def names(text: str) -> list[str]:
    """``A,B,C``."""
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise ArgumentTypeError(f"'{text}' is not a list of names")
    return found


def engine(text: str) -> str:
    """The name of an engine."""
    try:
        return checked_engine(text)
    except TablaError as fault:
        raise ArgumentTypeError(f"{fault.message}; {fault.hint}") from None


def add_engine(parser: ArgumentParser, default: str | None = None) -> None:
    """Where the accelerator runs."""
    choices = f"one of {', '.join(ENGINES)}, or serial:/dev/ttyUSB0[@BAUD] for a board"
    shown = f" (default {default})" if default else ""
    parser.add_argument("--engine", type=engine, default=default, metavar="NAME", help=choices + shown)


def add_file(parser: ArgumentParser) -> None:
    """The program."""
    parser.add_argument("file", metavar="FILE", help="the program: model.t, kernel.tc[:def] or layer.py:function")


def add_quiet(parser: ArgumentParser) -> None:
    """Silence."""
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no remarks")


def add_json(parser: ArgumentParser) -> None:
    """Results for programs."""
    parser.add_argument("--json", metavar="FILE", help="write the results as JSON; '-' is standard output")


def add_defines(parser: _ActionsContainer) -> None:
    """``-D``."""
    text = "set $NAME; in a .t file the constant NAME too"
    parser.add_argument(
        "-D", dest="defines", action="append", type=definition, default=[], metavar="NAME=VALUE", help=text
    )


def add_sizes(parser: _ActionsContainer) -> None:
    """``--size``."""
    parser.add_argument(
        "--size", dest="sizes", action="append", type=size, default=[], metavar="N=64", help="the value of a size"
    )


def add_shapes(parser: ArgumentParser) -> None:
    """For commands that read no arrays: their shapes alone."""
    parser.add_argument("--inputs", metavar="FILE.npz", help="arrays whose shapes give a kernel its sizes")


def add_own_records(parser: ArgumentParser) -> None:
    """The user's own records, for the commands that list them."""
    parser.add_argument("--templates", metavar="FILE.td", help="records of your own, shown with ours")


def add_build(parser: ArgumentParser) -> None:
    """Everything that shapes the hardware or the program's meaning."""
    array = parser.add_argument_group("the array")
    array.add_argument("--pes", type=whole(1), metavar="N", help="processing elements, 1 to 128 (default 16)")
    array.add_argument("--pes-per-pu", type=whole(1), metavar="N", help="of them in a tap group; a divisor of --pes")
    text = "instruction streams; a divisor of --pes (default: as many as pay)"
    array.add_argument("--sequencers", type=whole(1), metavar="N", help=text)
    array.add_argument("--stream-words", type=whole(1), metavar="S", help="words per beat, a power of two")
    array.add_argument("--model-words", type=whole(1), metavar="N", help="depth of the model memory of each PE")
    array.add_argument("--data-words", type=whole(1), metavar="N", help="depth of the data memory of each PE")
    array.add_argument("--interim-words", type=whole(1), metavar="N", help="depth of the interim memory of each PE")
    array.add_argument("--template", metavar="NAME", help="a preset (see tabla templates)")
    array.add_argument("--templates", metavar="FILE.td", help="presets and number formats of your own")
    text = f"how long to search for a fast schedule: 0 is quickest, 3 may take minutes (default {DEFAULT_EFFORT})"
    levels = range(len(EFFORTS))
    array.add_argument("--effort", type=int, choices=levels, default=DEFAULT_EFFORT, metavar="0..3", help=text)
    meaning = parser.add_argument_group("the program")
    meaning.add_argument(
        "--format",
        metavar="qI.F",
        help="fixed point, I counts the sign bit (default q6.10), or a name that tabla templates lists",
    )
    add_defines(meaning)
    meaning.add_argument("--learning-rate", metavar="MU", help="the same as -D mu=MU")
    meaning.add_argument("--minibatch", type=whole(1), default=1, metavar="B", help="samples a step (default 1)")
    meaning.add_argument(
        "--result",
        dest="results",
        action="append",
        type=names,
        default=[],
        metavar="NAME",
        help="a value to return too",
    )
    kernel = parser.add_argument_group("a kernel (.tc, .py)")
    add_sizes(kernel)
    add_tile(kernel)
    kernel.add_argument(
        "--keep", action="append", type=names, default=[], metavar="W,B", help="inputs held on chip, loaded once"
    )


def add_tile(parser: _ActionsContainer) -> None:
    """The arguments of a Tile function."""
    parser.add_argument(
        "--shape", dest="shapes", action="append", type=shape, default=[], metavar="I=2,8,3", help="a tensor's shape"
    )
    parser.add_argument(
        "--arg", dest="arguments", action="append", type=argument, default=[], metavar="s=2", help="another parameter"
    )


def build_options(arguments: Namespace) -> Options:
    """The driver's options from parsed arguments."""
    names = ("template", "format", "target", "board")
    if arguments.templates is not None and not any(getattr(arguments, name, None) for name in names):
        hint = "add --template NAME, or --format NAME of a number format in it"
        raise TablaError("--templates names a file of your own records, but none of them is asked for", hint=hint)
    fields = ("pes", "pes_per_pu", "sequencers", "format", "learning_rate", "minibatch", "stream_words")
    more = ("model_words", "data_words", "interim_words", "template", "templates", "effort")
    return Options(
        defines=dict(arguments.defines),
        results=_listed(arguments.results),
        sizes=dict(arguments.sizes),
        inputs=getattr(arguments, "inputs", None),
        keep=_listed(arguments.keep),
        shapes=dict(arguments.shapes),
        arguments=dict(arguments.arguments),
        **{name: getattr(arguments, name) for name in (*fields, *more)},
    )


def size_options(arguments: Namespace) -> Options:
    """The options that shape a kernel, for commands that build nothing."""
    return Options(defines=dict(arguments.defines), sizes=dict(arguments.sizes), inputs=arguments.inputs)


def _listed(groups: list[list[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for group in groups for name in group))

"""The options that several commands share, and their translation into the options of a build.

The functions `definition` to `engine` read the text of one option each; a text that is wrong is an
`ArgumentTypeError`, which argparse prints. The functions ``add_...`` add options to a parser.
"""

from __future__ import annotations

import ast
import csv
import re
from argparse import Action, ArgumentError, ArgumentParser, ArgumentTypeError, Namespace, _ActionsContainer
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.build.parameters import WHOLE, read_number
from tabla.commands.console import Console
from tabla.host.engines.session import ENGINES, EVALUATION, checked_engine
from tabla.program.bus import BUS_WIDTHS
from tabla.schedule.mapping.effort import DEFAULT_EFFORT, OBJECTIVES


class Named(Action):
    """Collect the pairs of NAME=VALUE of an option that may be repeated. A name with two values is an error."""

    def __call__(self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: Any = None) -> None:
        name, value = values
        given = getattr(namespace, self.dest)
        if any(other == name and one != value for other, one in given):
            raise ArgumentError(self, f"'{name}' is given twice, with two values")
        setattr(namespace, self.dest, [*given, values])


def definition(text: str) -> tuple[str, str]:
    """Read ``NAME=VALUE`` of ``-D`` as a pair of strings."""
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"\w+'?", name, re.ASCII) or not value:
        raise ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    return name, value


def size(text: str) -> tuple[str, int]:
    """Read ``NAME=NUMBER`` of ``--size``; the number is at least 1."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ArgumentTypeError(f"'{text}' is not NAME=NUMBER")
    return name, whole("size")(value)


def shape(text: str) -> tuple[str, tuple[int, ...]]:
    """Read ``NAME=2,8,3`` of ``--shape`` as a name and a shape. ``NAME=`` is the shape of a single value, ``()``.

    The name may be any that ONNX has, such as ``input.1``.
    """
    name, equals, value = text.rpartition("=")
    if not equals or not name or "=" in name:
        raise ArgumentTypeError(f"'{text}' is not NAME=SIZE,SIZE,...")
    return name, tuple(whole("size")(each) for each in value.split(",")) if value else ()


def argument(text: str) -> tuple[str, object]:
    """Read ``NAME=VALUE`` of ``--arg``.

    The value is a Python literal, such as ``2``, ``(3, 3)``, ``True`` or ``'same'``. Any other text is a string.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def columns(text: str) -> tuple[str, list[str]]:
    """Read ``NAME=COLUMN,COLUMN,...`` of ``--columns``. A column whose name has a comma is written in double quotes."""
    name, equals, value = text.partition("=")
    found = [column.strip() for column in next(csv.reader([value], skipinitialspace=True), [])]
    if not equals or not name or not found or not all(found):
        raise ArgumentTypeError(f"'{text}' is not NAME=COLUMN,COLUMN,...")
    return name, found


def whole(name: str) -> Callable[[str], int]:
    """Return a function that reads a whole number; its range stands in `tabla.build.parameters.WHOLE` under `name`."""

    def convert(text: str) -> int:
        try:
            return WHOLE[name].read(text)
        except TablaError as fault:
            raise ArgumentTypeError(fault.message) from None

    return convert


def numbers(name: str) -> Callable[[str], tuple[int, ...]]:
    """Return a function that reads ``8,10,12``, ``8-18`` or both, each number by the rule of the name `name`.

    The rule must have a greatest number, which keeps ranges short.
    """
    assert WHOLE[name].high is not None

    def convert(texts: str) -> tuple[int, ...]:
        found: list[int] = []
        for part in texts.split(","):
            text = part.strip()
            # A dash at the beginning is a sign, which no range begins with.
            first, dash, last = (text, "", "") if text.startswith("-") else text.partition("-")
            ends = whole(name)(first), whole(name)(last if dash else first)
            if ends[1] < ends[0]:
                raise ArgumentTypeError(f"'{part}' holds no number, because {ends[1]} is less than {ends[0]}")
            found.extend(range(ends[0], ends[1] + 1))
        return tuple(found)

    return convert


def number(text: str) -> str:
    """Check that the text of an option is a finite number, and return it as it is."""
    try:
        return read_number(text)
    except TablaError as fault:
        raise ArgumentTypeError(fault.message) from None


def names(text: str) -> list[str]:
    """Read the names of ``A,B,C``."""
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise ArgumentTypeError(f"'{text}' is not a list of names")
    return found


def engine(*, trains: bool) -> Callable[[str], str]:
    """Return a function that reads the name of an engine; with `trains` also that of the evaluation."""

    def convert(text: str) -> str:
        try:
            return checked_engine(text, trains=trains)
        except TablaError as fault:
            raise ArgumentTypeError(f"{fault.message}; {fault.hint}") from None

    return convert


def add_engine(parser: ArgumentParser, default: str | None = None, *, trains: bool = False) -> None:
    """Add ``--engine``, which says where the accelerator runs. With `trains`, the evaluation is an engine, too."""
    names = [EVALUATION, *ENGINES] if trains else ENGINES
    choices = f"one of {', '.join(names)}, or serial:/dev/ttyUSB0[@BAUD] for a board"
    choices += f" (default {default or EVALUATION})" if default or trains else ""
    parser.add_argument("--engine", type=engine(trains=trains), default=default, metavar="NAME", help=choices)


def add_file(parser: ArgumentParser) -> None:
    """Add the program, the one argument without a name."""
    text = "the program: model.t, kernel.tc[:def], layer.py:function or model.onnx"
    parser.add_argument("file", metavar="FILE", help=text)


def add_quiet(parser: ArgumentParser) -> None:
    """Add ``--quiet``, which drops progress and remarks."""
    parser.add_argument("-q", "--quiet", action="store_true", help="print no progress and no remarks")


def add_inputs(parser: ArgumentParser) -> None:
    """Add the options for the data of commands that compute without learning."""
    text = "inputs, labels and initial models by name: .npz, or .csv with a header"
    parser.add_argument("--inputs", metavar="FILE", required=True, help=text)
    parser.add_argument("--weights", metavar="FILE.npz", help="take the models that the inputs lack from this file")
    parser.add_argument("--seed", type=whole("seed"), metavar="S", help="draw the models that are still missing")
    parser.add_argument("--samples", type=whole("samples"), metavar="N", help="use only the first N samples")


def input_options(arguments: Namespace) -> dict[str, Any]:
    """Return the options of `add_inputs` beside the inputs, as parameters of Python."""
    return {name: getattr(arguments, name) for name in ("samples", "seed", "weights")}


def add_table(parser: ArgumentParser) -> None:
    """Add the options that say what the columns of a table mean."""
    group = parser.add_argument_group("tables and classes")
    text = "the columns of the table that an input or a label takes; * stands for all others"
    group.add_argument("--columns", type=columns, nargs="+", action="extend", metavar="NAME=COLUMN,...", help=text)
    text = "labels whose values name classes: integers or texts, sorted; one-hot, or 0 and 1 for a scalar label"
    group.add_argument("--classes", action="append", type=names, default=[], metavar="y", help=text)


def table_options(arguments: Namespace) -> dict[str, Any]:
    """Return the options of `add_table` as parameters of Python. A name given twice is a `TablaError`."""
    given = arguments.columns or []
    for name, _ in given:
        if sum(other == name for other, _ in given) > 1:
            raise TablaError(f"--columns names '{name}' twice", hint=f"write {name}=a,b once, with all its columns")
    return {"columns": dict(given) if given else None, "classes": _listed(arguments.classes)}


def add_strict(parser: ArgumentParser) -> None:
    """Add the option ``--strict`` of commands that compute without learning."""
    parser.add_argument("--strict", action="store_true", help="exit with 1 after an overflow or a domain error")


def add_json(parser: ArgumentParser) -> None:
    """Add ``--json``, which writes the results in a form for programs."""
    parser.add_argument("--json", metavar="FILE", help="write the results as JSON; '-' is standard output")


def add_defines(parser: _ActionsContainer) -> None:
    """Add ``-D``, which sets the variables and constants of a program."""
    text = "set the variable $NAME; in a .t file also the constant NAME"
    parser.add_argument(
        "-D", dest="defines", action=Named, type=definition, default=[], metavar="NAME=VALUE", help=text
    )


def add_steps(parser: _ActionsContainer) -> None:
    """Add ``-D`` and the options about the steps of a program that learns."""
    add_defines(parser)
    parser.add_argument("--learning-rate", type=number, metavar="MU", help="the same as -D mu=MU")
    parser.add_argument(
        "--minibatch", type=whole("minibatch"), default=1, metavar="B", help="samples per step (default 1)"
    )


def add_sizes(parser: _ActionsContainer) -> None:
    """Add ``--size``, which gives the sizes of a kernel their values."""
    parser.add_argument(
        "--size", dest="sizes", action=Named, type=size, default=[], metavar="N=64", help="the value of a size"
    )


def add_shapes(parser: ArgumentParser) -> None:
    """Add ``--inputs`` for commands that read only the shapes of the arrays, not their values."""
    parser.add_argument("--inputs", metavar="FILE", help="arrays (.npz, .csv) whose shapes give a kernel its sizes")


def add_own_records(parser: ArgumentParser) -> None:
    """Add ``--templates`` for the commands that list records."""
    parser.add_argument("--templates", metavar="FILE.td", help="also list the records of this file")


def add_build(parser: ArgumentParser) -> None:
    """Add the options of every command that compiles: those of the array, of the program and of kernels."""
    array = parser.add_argument_group("the array")
    array.add_argument("--pes", type=whole("pes"), metavar="N", help="processing elements, 1 to 128 (default 16)")
    array.add_argument(
        "--pes-per-pu",
        type=whole("pes_per_pu"),
        metavar="N",
        help="processing elements per processing unit (PU); a divisor of --pes",
    )
    text = "instruction streams; a divisor of --pes (default: the number that gives the fewest cycles)"
    array.add_argument("--sequencers", type=whole("sequencers"), metavar="N", help=text)
    array.add_argument(
        "--stream-words",
        type=whole("stream_words"),
        metavar="S",
        help="words of the input port per cycle, a power of two, and the most words that leave in one cycle (without "
        "this option one word leaves)",
    )
    array.add_argument(
        "--model-words", type=whole("model_words"), metavar="N", help="depth of the model memory of each PE"
    )
    array.add_argument(
        "--data-words", type=whole("data_words"), metavar="N", help="depth of the data memory of each PE"
    )
    array.add_argument(
        "--interim-words", type=whole("interim_words"), metavar="N", help="depth of the interim memory of each PE"
    )
    array.add_argument("--template", metavar="NAME", help="a preset of the array (see tabla templates)")
    array.add_argument("--templates", metavar="FILE.td", help="a file with presets and number formats of your own")
    text = "the folder of an overlay: compile for its array, which has all of the above fixed"
    array.add_argument("--onto", metavar="FOLDER", help=text)
    text = f"how long to search for a fast schedule: 0 is quickest, 3 may take minutes (default {DEFAULT_EFFORT})"
    array.add_argument("--effort", type=whole("effort"), default=DEFAULT_EFFORT, metavar="0..3", help=text)
    text = "make small the cycles of a sample (throughput, the default), or those until its last result (latency)"
    array.add_argument("--objective", choices=OBJECTIVES, default="throughput", help=text)
    array.add_argument("--force", action="store_true", help="go on with a program that no known part holds")
    meaning = parser.add_argument_group("the program")
    meaning.add_argument(
        "--format",
        metavar="qI.F",
        help="number format: I integer bits with the sign, F fraction bits (default q6.10); a name that tabla"
        " templates lists; or auto, or autoN for N bits: the data choose it (train, gen, eval, sim)",
    )
    text = "make inputs and labels outside of the format's range the nearest word (always so with --format auto)"
    meaning.add_argument("--saturate", action="store_true", help=text)
    add_steps(meaning)
    text = "keep the learning rate as a word that hosts load, as 'mu', beside the models"
    meaning.add_argument("--runtime-rate", action="store_true", help=text)
    text = "bits that models that learn have beside those of a word (default 0, or with --format auto as the data ask)"
    meaning.add_argument("--model-guard", type=whole("model_guard"), metavar="G", help=text)
    meaning.add_argument(
        "--result",
        dest="results",
        action="append",
        type=names,
        default=[],
        metavar="NAME",
        help="a further value to return",
    )
    kernel = parser.add_argument_group("a kernel (.tc, .py)")
    add_sizes(kernel)
    add_tile(kernel)
    kernel.add_argument(
        "--keep",
        action="append",
        type=names,
        default=[],
        metavar="W,B",
        help="inputs that are loaded once and stay on the chip",
    )
    add_fine_tuning(parser)


def add_fine_tuning(parser: ArgumentParser) -> None:
    """Add the options that say what learns of a model that was trained elsewhere."""
    group = parser.add_argument_group("fine-tuning a model (.onnx)")
    for option, text in (
        ("--train", "the initialisers that learn, by their names in the model"),
        ("--freeze", "the initialisers that do not learn; all others do"),
    ):
        group.add_argument(option, action="append", type=names, default=[], metavar="W,B", help=text)
    text = "the loss against the label 'label': cross-entropy, or mse for half the sum of the squared errors"
    group.add_argument("--loss", metavar="LOSS", help=text)


def add_bus(parser: ArgumentParser) -> _ActionsContainer:
    """Add ``--bus`` and ``--bus-width``, and return their group."""
    host = parser.add_argument_group("the host")
    host.add_argument("--bus", choices=("axi",), help="also write a wrapper for this bus: <name>_axi.v")
    widths = ", ".join(map(str, BUS_WIDTHS))
    text = f"bits of the streams of the bus: {widths} (default {BUS_WIDTHS[0]})"
    host.add_argument("--bus-width", type=int, choices=BUS_WIDTHS, metavar="N", help=text)
    return host


def add_tile(parser: _ActionsContainer) -> None:
    """Add the arguments of a Tile function."""
    parser.add_argument(
        "--shape",
        dest="shapes",
        action=Named,
        type=shape,
        default=[],
        metavar="I=2,8,3",
        help="the shape of a tensor",
    )
    parser.add_argument(
        "--arg",
        dest="arguments",
        action=Named,
        type=argument,
        default=[],
        metavar="s=2",
        help="the value of another parameter",
    )


_RECORDS = ("template", "format", "target", "board")
"""The options that may name a record of ``--templates``."""


def build_options(arguments: Namespace) -> Options:
    """Return the options of a build. Raises `TablaError` if ``--templates`` names a file and nothing of it is used."""
    fields = ("pes", "pes_per_pu", "sequencers", "format", "learning_rate", "minibatch", "model_guard", "stream_words")
    more = ("model_words", "data_words", "interim_words", "template", "templates", "onto", "effort", "objective")
    switches = ("force", "saturate", "runtime_rate", "loss")
    options = Options(
        defines=dict(arguments.defines),
        results=_listed(arguments.results),
        sizes=dict(arguments.sizes),
        inputs=getattr(arguments, "inputs", None),
        keep=_listed(arguments.keep),
        train=_listed(arguments.train),
        freeze=_listed(arguments.freeze),
        shapes=dict(arguments.shapes),
        arguments=dict(arguments.arguments),
        bus=getattr(arguments, "bus", None),
        bus_width=getattr(arguments, "bus_width", None),
        **{name: getattr(arguments, name) for name in (*fields, *more, *switches)},
    )
    options.refuse_unused_records(*(getattr(arguments, name, None) for name in _RECORDS))
    return options


def remark_unused_inputs(arguments: Namespace, console: Console) -> None:
    """Say that the file of `add_shapes` has no effect on a program that declares its sizes itself.

    A file that cannot be read is a `TablaError`, as it is for a kernel.
    """
    if arguments.inputs is not None and arguments.file.endswith(".t"):
        from tabla.base.arrays import read_arrays

        read_arrays(Path(arguments.inputs))
        console.remark(
            f"note: --inputs has no effect: it gives sizes to kernels, and '{arguments.file}' declares its sizes itself"
        )


def size_options(arguments: Namespace) -> Options:
    """Return the options of a build for a command that compiles nothing: only those that give a kernel its sizes."""
    return Options(defines=dict(arguments.defines), sizes=dict(arguments.sizes), inputs=arguments.inputs)


def _listed(groups: list[list[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for group in groups for name in group))

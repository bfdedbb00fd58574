"""``tabla explore`` compares arrays and number formats of one program by rate, area and accuracy."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path

from tabla.base.folder import check_file
from tabla.commands.arguments import add_defines as add_constants
from tabla.commands.arguments import add_file, add_json, add_quiet, add_sizes, add_tile, names, number, numbers, whole
from tabla.commands.console import Console
from tabla.commands.learning import add_epochs, add_preparation, learning_options
from tabla.commands.output import write_json
from tabla.learn.explore import explore
from tabla.learn.explore.local import cores
from tabla.learn.explore.request import FORMAT, PART, SEEDS, SPLIT, TIMEOUT
from tabla.learn.explore.result import PAGE
from tabla.learn.formats import METRICS

PES = "4..64"
"""The numbers of PEs if the user names none, as an option has them."""
_AS_THEY_ARE = (
    *("pes", "format", "model_guard", "minibatch", "part", "data", "metric", "epochs", "predict", "synth", "seeds"),
    *("scheduler", "timeout", "learning_rate", "stream_words", "sequencers", "inputs", "keep"),
)
"""The options that are parameters of `tabla.explore`."""


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    space = parser.add_argument_group("the points; every combination is one")
    text = f"numbers of PEs: 4,6,8, or 4..64 for each doubling, or 4-7 for every number (default {PES})"
    space.add_argument("--pes", type=_series("pes"), default=_series("pes")(PES), metavar="N,...", help=text)
    text = f"number formats, such as q6.10,q4.8; with --data also auto16 for the best of 16 bits (default {FORMAT})"
    space.add_argument("--format", type=names, default=[FORMAT], metavar="qI.F,...", help=text)
    text = "guard bits of models, such as 0,4 (default 0, or with auto as the data ask)"
    space.add_argument("--model-guard", type=numbers("guards"), default=(), metavar="G,...", help=text)
    text = "samples per step: 1,8, or 1..16 for each doubling (default 1)"
    space.add_argument("--minibatch", type=_series("minibatch"), default=(1,), metavar="B,...", help=text)
    text = f"FPGAs with their speed grades (default {PART}); see tabla targets"
    space.add_argument("--part", type=names, default=[PART], metavar="NAME:GRADE,...", help=text)
    _add_learning(parser)
    _add_program(parser)
    work = parser.add_argument_group("the work")
    text = "confirm the points of the front with Yosys and nextpnr, which takes minutes for each"
    work.add_argument("--synth", action="store_true", help=text)
    work.add_argument("--seeds", type=whole("seeds"), metavar="N", help=f"tries of --synth (default {SEEDS})")
    work.add_argument("--workers", type=whole("workers"), metavar="N", help="processes (default: one for each core)")
    text = "let the workers of a Dask cluster compute, such as tcp://host:8786"
    work.add_argument("--scheduler", metavar="ADDRESS", help=text)
    text = f"seconds after which another worker of the cluster tries a point (default {TIMEOUT})"
    work.add_argument("--timeout", type=whole("timeout"), metavar="S", help=text)
    text = "write the page there, and all figures as they are made; an interrupted exploration goes on from them"
    parser.add_argument("-o", "--output", metavar="FOLDER", help=text)
    add_json(parser)
    add_quiet(parser)


def _add_learning(parser: ArgumentParser) -> None:
    """Add the options about the validation metric."""
    group = parser.add_argument_group("the accuracy on a validation part")
    group.add_argument("--data", metavar="FILE", help="the samples to learn from: .npz, or .csv with a header")
    text = f"leave out the share A of the samples as test part, and score the validation share B (default {SPLIT})"
    group.add_argument("--split", metavar="A,B", help=text)
    text = "choose the samples of the parts by the seed S (default 0)"
    group.add_argument("--split-seed", type=whole("split_seed"), metavar="S", help=text)
    text = "accuracy, or r2 for regression (default: what suits the labels)"
    group.add_argument("--metric", choices=METRICS, metavar="NAME", help=text)
    add_preparation(parser)
    add_epochs(parser)
    # Whether they are given is seen by their not being None; `explore` has the defaults.
    parser.set_defaults(epochs=None, seed=None)


def _add_program(parser: ArgumentParser) -> None:
    """Add the options that all points have in common."""
    group = parser.add_argument_group("the program and the array, the same in all points")
    add_constants(group)
    group.add_argument("--learning-rate", type=number, metavar="MU", help="the same as -D mu=MU")
    group.add_argument(
        "--stream-words", type=whole("stream_words"), metavar="S", help="words of the input port per cycle"
    )
    text = "instruction streams (default: the number that gives the fewest cycles)"
    group.add_argument("--sequencers", type=whole("sequencers"), metavar="N", help=text)
    group.add_argument("--inputs", metavar="FILE", help="arrays (.npz, .csv) whose shapes give a kernel its sizes")
    group.add_argument("--keep", type=names, default=[], metavar="W,B", help="inputs of a kernel that stay on the chip")
    add_sizes(group)
    add_tile(group)


def _series(name: str) -> Callable[[str], tuple[int, ...]]:
    """Return a function that reads ``4,6,8``, ``4..64`` for each doubling, and ``4-7`` for every number."""

    def convert(text: str) -> tuple[int, ...]:
        found: list[int] = []
        for part in text.split(","):
            ends = re.fullmatch(r"\s*(\w+)\s*(\.\.|-)\s*(\w+)\s*", part)
            first, last = (whole(name)(ends[1]), whole(name)(ends[3])) if ends else (whole(name)(part),) * 2
            if last < first:
                raise ArgumentTypeError(f"'{part}' holds no number, because {last} is less than {first}")
            if ends and ends[2] == "-" and last - first >= 1000:
                raise ArgumentTypeError(f"'{part}' holds too many numbers")
            while first <= last:
                found.append(first)
                first = 2 * first if ends and ends[2] == ".." else first + 1
        return tuple(sorted(set(found)))

    return convert


def run(arguments: Namespace, console: Console) -> int:
    """Explore, print the front of each part, and write the page."""
    if arguments.json not in (None, "-"):
        check_file(Path(arguments.json))
    given = {name: getattr(arguments, name) for name in _AS_THEY_ARE}
    given |= {name: dict(getattr(arguments, name)) for name in ("defines", "sizes", "shapes", "arguments")}
    # Only the command takes all cores: a script of Python would have to be written for several processes.
    workers = arguments.workers or (cores() if arguments.scheduler is None else None)
    found = explore(
        arguments.file,
        **given,
        **learning_options(arguments),
        workers=workers,
        output=arguments.output or None,
        remark=console.remark,
    )
    if arguments.output:
        console.remark(f"written      {Path(arguments.output) / PAGE}")
    if arguments.json:
        write_json(arguments.json, found.as_json(), console)
    if arguments.json != "-":
        console.result(found.text())
    return 0

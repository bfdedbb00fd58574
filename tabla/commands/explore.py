"""``tabla explore`` compares arrays and number formats of one program by rate, area and accuracy."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tabla.automatic import for_learning, is_automatic
from tabla.commands.arguments import add_defines as add_constants
from tabla.commands.arguments import add_file, add_json, add_quiet, add_sizes, add_tile, names, number, numbers, whole
from tabla.commands.console import Console
from tabla.commands.learning import EPOCHS, add_epochs, add_preparation, learning_options
from tabla.commands.output import write_json
from tabla.comparison import METRICS, check_data
from tabla.driver import build
from tabla.explore import Exploration, Space, explore
from tabla.explore.cluster import Cluster
from tabla.explore.local import Local, cores
from tabla.explore.page import explore_page
from tabla.explore.question import FAMILY, Question
from tabla.explore.result import Part
from tabla.explore.run import Workers
from tabla.learning import learning_start
from tabla.options import Options
from tabla.report.folder import replaced_file
from tabla.source import TablaError
from tabla.synth.nextpnr import chosen_grade
from tabla.templates.targets import target

HELP = "compare arrays and number formats of a program by samples a second, area and accuracy"
PES, FORMATS, PART = "4..64", "q6.10", "LFE5U-85F:6"
"""What is explored if the user names nothing else."""
TIMEOUT = 600
SEEDS = 3
_ABOUT_DATA = (
    *("split", "split_seed", "metric", "columns", "classes", "standardise", "standardise_labels", "shuffle", "samples"),
    *("epochs", "predict", "weights", "seed"),
)
"""The options that say nothing without data, by the names of the parameters."""


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    space = parser.add_argument_group("the points; every combination is one")
    text = f"numbers of PEs: 4,6,8, or 4..64 for each doubling, or 4-7 for every number (default {PES})"
    space.add_argument("--pes", type=_series("pes"), default=_series("pes")(PES), metavar="N,...", help=text)
    text = f"number formats, such as q6.10,q4.8; with --data also auto16 for the best of 16 bits (default {FORMATS})"
    space.add_argument("--format", type=names, default=[FORMATS], metavar="qI.F,...", help=text)
    text = "guard bits of models, such as 0,4 (default 0, or with auto as the data ask)"
    space.add_argument("--model-guard", type=numbers("guards"), metavar="G,...", help=text)
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
    text = "leave out the share A of the samples as test part, and score the share B, the validation part"
    group.add_argument("--split", metavar="A,B", help=text)
    text = "choose the samples of the parts by the seed S (default 0)"
    group.add_argument("--split-seed", type=whole("split_seed"), metavar="S", help=text)
    text = "accuracy, or r2 for regression (default: what suits the labels)"
    group.add_argument("--metric", choices=METRICS, metavar="NAME", help=text)
    add_preparation(parser)
    add_epochs(parser)
    # Whether they are given is seen by their not being None; `_question` has the defaults.
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
    question = _question(arguments)
    parts = list(dict.fromkeys(_part(text) for text in arguments.part))
    space = Space(pes=arguments.pes, formats=_formats(question, arguments), minibatches=arguments.minibatch)
    folder = Path(arguments.output) if arguments.output else None
    found = explore(question, space, parts, _workers(arguments, console), folder=folder, synthesise=arguments.synth)
    if folder is not None:
        _write(found, folder, console)
    if arguments.json:
        write_json(arguments.json, found.as_json(), console)
    if arguments.json != "-":
        console.result(found.text())
    return 0


def _question(arguments: Namespace) -> Question:
    """Return what all points have in common. Options about data without data are a `TablaError`."""
    options = Options(
        defines=dict(arguments.defines),
        learning_rate=arguments.learning_rate,
        stream_words=arguments.stream_words,
        sequencers=arguments.sequencers,
        inputs=arguments.inputs,
        keep=tuple(arguments.keep),
        sizes=dict(arguments.sizes),
        shapes=dict(arguments.shapes),
        arguments=dict(arguments.arguments),
    )
    # A fault of the program is told before any work; whether sequencers divide the PEs is a question of each point.
    build(arguments.file, replace(options, sequencers=None))
    if arguments.seeds is not None and not arguments.synth:
        raise TablaError("--seeds counts the tries of --synth, which is not there", hint="add --synth")
    seeds = arguments.seeds or SEEDS
    if arguments.data is None:
        if given := [name for name in _ABOUT_DATA if _is_given(getattr(arguments, name))]:
            raise TablaError(
                f"there is no data for {', '.join(_option(name) for name in given)}", hint="add --data FILE"
            )
        return Question(source=arguments.file, options=options, seeds=seeds)
    learning: dict[str, Any] = learning_options(arguments)
    learning["seed"] = 0 if arguments.seed is None else arguments.seed
    # What no format could learn from is told at once, and not for each of them.
    check_data(arguments.file, options, arguments.data, **learning)
    learning |= {"epochs": arguments.epochs or EPOCHS, "predict": arguments.predict, "metric": arguments.metric}
    return Question(
        source=arguments.file, options=options, data=arguments.data, learning=learning, seeds=seeds
    )


def _is_given(value: object) -> bool:
    return value is not None and value is not False and value != []


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _formats(question: Question, arguments: Namespace) -> tuple[tuple[str, int], ...]:
    """Return the number formats with their guard bits; -1 stands for those that the user leaves to the tool."""
    found: list[tuple[str, int]] = []
    for name in dict.fromkeys(arguments.format):
        for guard in arguments.model_guard or (-1,):
            options = replace(question.options, format=name, model_guard=None if guard < 0 else guard)
            if is_automatic(options):
                options = _chosen(question, options)
                guard = options.model_guard or 0
            found.append((str(options.chosen_format()), guard))
    return tuple(dict.fromkeys(found))


def _chosen(question: Question, options: Options) -> Options:
    """Return the options with the format that the data choose, from the training part alone."""
    data = question.data
    if data is None:
        raise TablaError(
            f"--format {options.format} chooses by data, and there is none", hint="add --data FILE, or name a format"
        )
    about = {n: value for n, value in question.learning.items() if n not in ("epochs", "predict", "metric")}
    return for_learning(
        partial(build, question.source),
        options,
        lambda wide: learning_start(wide, data, needs_test=False, **about),
        question.learning["epochs"],
    )[0]


def _part(text: str) -> Part:
    """Return the part of ``LFE5U-85F:6``; without a grade its first one. An unknown one is a `TablaError`."""
    name, _, grade = text.partition(":")
    try:
        device = target(FAMILY).device(name)
    except TablaError as fault:
        raise TablaError(
            f"--part: {fault.message}; areas are estimated for the {target(FAMILY).title} only", hint=fault.hint
        ) from None
    if grade and not grade.isdigit():
        raise TablaError(f"--part: '{grade}' is not a speed grade", hint=f"write {PART}")
    return Part(device=device, grade=chosen_grade(device, int(grade) if grade else None))


def _workers(arguments: Namespace, console: Console) -> Workers:
    if arguments.scheduler is None:
        if arguments.timeout is not None:
            raise TablaError("--timeout is about the workers of a cluster", hint="add --scheduler ADDRESS")
        return Local(count=arguments.workers or cores())
    if arguments.workers is not None:
        raise TablaError(
            "--workers counts processes of this machine, and --scheduler names other ones", hint="leave one of them out"
        )
    return Cluster(address=arguments.scheduler, patience=arguments.timeout or TIMEOUT, remark=console.remark)


def _write(found: Exploration, folder: Path, console: Console) -> None:
    """Write the page, and all figures as JSON, beside the records."""
    write_json(str(folder / "explore.json"), found.as_json(), console)
    page = folder / "index.html"
    with replaced_file(page) as file:
        file.write_text(explore_page(found), encoding="utf-8")
    console.remark(f"written      {page}")

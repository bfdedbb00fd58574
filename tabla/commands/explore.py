"""``tabla explore`` compares arrays and number formats of one program by rate, area and accuracy."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from tabla.base.folder import check_file
from tabla.base.kinds import Names, WholeNumber
from tabla.base.options import rule_of
from tabla.base.source import TablaError
from tabla.build.options import ArrayOptions, Options
from tabla.commands.arguments import add_data, add_file, add_json, add_options, add_quiet, reader, record_of, series
from tabla.commands.console import Console
from tabla.commands.models import program_to_learn
from tabla.commands.opening import add_open, open_page
from tabla.commands.output import write_json
from tabla.languages.options import ProgramOptions
from tabla.learn.data.options import DataOptions
from tabla.learn.explore import explore
from tabla.learn.explore.local import cores
from tabla.learn.explore.question import KeptProgram
from tabla.learn.explore.request import FORMAT, PART, SEEDS, TIMEOUT, WORKERS
from tabla.learn.explore.result import PAGE
from tabla.learn.formats import GUARD
from tabla.learn.options import LearnOptions

PES = "4..64"
"""The numbers of PEs if the user names none, as an option has them."""
_AS_THEY_ARE = ("pes", "format", "model_guard", "minibatch", "part", "data", "synth", "seeds", "scheduler", "timeout")
"""The options that are parameters of `tabla.explore`."""


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    pes, minibatch = series(rule_of(ArrayOptions, "pes")), series(rule_of(ProgramOptions, "minibatch"))
    space = parser.add_argument_group("the points; every combination is one")
    text = f"numbers of PEs: 4,6,8, or 4..64 for each doubling, or 4-7 for every number (default {PES})"
    space.add_argument("--pes", type=pes, default=pes(PES), metavar="N,...", help=text)
    text = f"number formats, such as q6.10,q4.8; with --data also auto16 for the best of 16 bits (default {FORMAT})"
    space.add_argument("--format", type=reader(Names()), metavar="qI.F,...", help=text)
    text = "guard bits of models, such as 0,4 (default 0, or with auto as the data ask)"
    space.add_argument("--model-guard", type=series(GUARD), default=(), metavar="G,...", help=text)
    text = "samples per step: 1,8, or 1..16 for each doubling (default 1)"
    space.add_argument("--minibatch", type=minibatch, metavar="B,...", help=text)
    text = f"FPGAs with their speed grades (default {PART}); see tabla targets"
    space.add_argument("--part", type=reader(Names()), default=[PART], metavar="NAME:GRADE,...", help=text)
    add_data(parser, required=False)
    add_options(parser, DataOptions, LearnOptions, ArrayOptions, ProgramOptions)
    work = parser.add_argument_group("the work")
    text = "confirm the points of the front with Yosys and nextpnr, which takes minutes for each"
    work.add_argument("--synth", action="store_true", help=text)
    work.add_argument(
        "--seeds", type=reader(WholeNumber(low=1)), metavar="N", help=f"tries of --synth (default {SEEDS})"
    )
    work.add_argument("--workers", type=reader(WORKERS), metavar="N", help="processes (default: one for each core)")
    text = "let the workers of a Dask cluster compute, such as tcp://host:8786"
    work.add_argument("--scheduler", metavar="ADDRESS", help=text)
    text = f"seconds after which another worker of the cluster tries a point (default {TIMEOUT})"
    work.add_argument("--timeout", type=reader(WholeNumber(low=1)), metavar="S", help=text)
    text = "write the page there, and all figures as they are made; an interrupted exploration goes on from them"
    parser.add_argument("-o", "--output", metavar="FOLDER", help=text)
    add_open(parser, "the page that -o writes")
    add_json(parser)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Explore, print the front of each part, and write the page."""
    if arguments.open and not arguments.output:
        raise TablaError("--open has no page to show, because none is written", hint="name a folder with -o")
    if arguments.json not in (None, "-"):
        check_file(Path(arguments.json))
    learns = arguments.data is not None or arguments.infer
    program = program_to_learn(arguments, console, "explored", starts=learns)
    source = program if isinstance(program, str) else KeptProgram(text=program, file=arguments.file)
    given: dict[str, Any] = {name: getattr(arguments, name) for name in _AS_THEY_ARE}
    given |= {"format": arguments.format or [FORMAT], "minibatch": arguments.minibatch or (1,)}
    for record in (Options, DataOptions, LearnOptions):
        given |= record_of(arguments, record).given_for("explore")
    # Only the command takes all cores: a script of Python would have to be written for several processes.
    workers = arguments.workers or (cores() if arguments.scheduler is None else None)
    found = explore(
        source,
        **given,
        workers=workers,
        output=arguments.output or None,
        remark=console.remark,
    )
    if arguments.output:
        console.remark(f"written      {Path(arguments.output) / PAGE}")
    if arguments.json:
        write_json(arguments.json, found.as_json(), console)
    if arguments.json != "-":
        console.report(found.text(console.width))
    if arguments.open:
        open_page(Path(arguments.output) / PAGE, console)
    return 0

"""``tabla gen`` writes the accelerator: Verilog, memory images, manifest, pictures and a test bench."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path

from tabla.base.folder import check_replaceable
from tabla.base.source import TablaError
from tabla.build.cost.capacity import named_part
from tabla.build.files.bus import bus_line
from tabla.build.files.outlook import outlook
from tabla.build.files.overlay import image_line
from tabla.build.pass_options import PassOptions
from tabla.commands.arguments import (
    add_build,
    add_data,
    add_file,
    add_json,
    add_options,
    add_quiet,
    build_options,
    record_of,
    remark_unused_inputs,
)
from tabla.commands.choosing import tell_choice
from tabla.commands.console import Console
from tabla.commands.models import inference_build, program_to_learn
from tabla.commands.opening import add_open, open_page
from tabla.commands.output import write_json
from tabla.commands.pass_runs import pass_options, show_passes
from tabla.driver import STAGES, Build, build
from tabla.learn.auto_format import for_build, is_automatic
from tabla.learn.data.options import DataOptions
from tabla.learn.options import LearnOptions

FOLDER = "build"


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    parser.add_argument("-o", "--output", metavar="FOLDER", help=f"the output folder (default {FOLDER})")
    parser.add_argument(
        "--emit", choices=STAGES, metavar="STAGE", help=f"print a stage and write nothing: {', '.join(STAGES)}"
    )
    parser.add_argument("--costs", action="store_true", help="also print what each statement costs the lanes, and why")
    add_open(parser, "the page of the schedule")
    add_data(parser, required=False)
    add_build(parser)
    add_options(parser, DataOptions, LearnOptions, PassOptions)
    add_json(parser)
    add_quiet(parser)


def _refuse_unwritten(arguments: Namespace, console: Console) -> None:
    """Raise `TablaError` for options whose results ``--emit`` would leave out, and remark an unused folder."""
    for option, given in (
        ("--json", arguments.json),
        ("--costs", arguments.costs),
        ("--part", arguments.part if arguments.emit in STAGES[: STAGES.index("mapping")] else None),
        ("--open", arguments.open),
    ):
        if given:
            raise TablaError(
                f"{option} has no meaning with --emit, which prints a stage and nothing else",
                hint=f"leave {option} out, or run the command again without --emit",
            )
    if arguments.output:
        console.remark(f"note: --emit prints to standard output, so nothing is written to '{arguments.output}'")


def _refuse_learning(about: DataOptions, learning: LearnOptions) -> None:
    """Raise `TablaError` for an option of data or learning, which an inference build in a named format does not use."""
    for name in {**about.given(), **learning.given()}.keys() - {"weights", "predict"}:
        option = f"--{name.replace('_', '-')}"
        raise TablaError(f"{option} has a meaning only where data choose the format", hint=f"leave {option} out")


def _made(arguments: Namespace, console: Console) -> Build:
    """Return the build: an inference build, or the program in a format that data may choose."""
    about, options = record_of(arguments, DataOptions), build_options(arguments)
    if options.infer and not is_automatic(options):
        _refuse_learning(about, record_of(arguments, LearnOptions))
        remark_unused_inputs(arguments, console)
        return inference_build(arguments, console)
    made_by = partial(build, program_to_learn(arguments, console, "built", starts=is_automatic(options)))
    options, learning = build_options(arguments), record_of(arguments, LearnOptions)
    # A look at the data is enough here: this command learns nothing itself.
    first, used = LearnOptions(epochs=1, seed=0), replace(options, infer=False)
    chosen = for_build(made_by, used, arguments.data, about, learning, first=first)
    if chosen[1] is None:  # otherwise the values of the inputs have chosen the format
        remark_unused_inputs(arguments, console)
    made = made_by(*chosen)
    return made.inference(learning.weights, predict=learning.predict) if options.infer else made


def run(arguments: Namespace, console: Console) -> int:
    """Compile the program and write the output folder; with ``--emit``, print a stage and write nothing."""
    folder = Path(arguments.output or FOLDER)
    shown = pass_options(arguments)
    if arguments.emit:
        _refuse_unwritten(arguments, console)
    else:
        check_replaceable(folder)
    if arguments.part:
        named_part(arguments.part, arguments.templates)  # an unknown part is refused before anything is scheduled
    made = _made(arguments, console)
    show_passes(made, shown, console)
    if arguments.emit:
        console.result(made.emit(arguments.emit))
        return 0
    console.progress(f"{arguments.file}: compiling")
    for note in made.warnings:
        console.remark(f"warning: {note}")
    made.write(folder)
    if made.overlay is None and not (folder / "tb").exists():
        console.remark("warning: no test bench is written, because random integers give positions outside a tensor")
        console.remark("hint: give valid inputs with --inputs FILE")
    report, ahead = made.report(), outlook(made)
    tell_choice(made, arguments, console)
    if arguments.json:
        write_json(arguments.json, {**report.as_json(), **ahead.as_json()}, console)
    if arguments.json != "-":
        console.report("\n".join([report.text(), *ahead.lines()]))
        if made.bus_shape is not None:
            console.report(bus_line(made.schedule, made.bus_shape))
        if made.overlay is not None:
            console.report(image_line(made.image_file))
        console.result(f"written      {folder / (made.name + ('.v' if made.overlay is None else '.image'))}")
        if arguments.costs:
            console.result(f"\n{report.costs.text(console.width)}")
    if arguments.open:
        open_page(folder / f"{made.name}.schedule.html", console)
    return 0

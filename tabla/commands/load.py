"""``tabla load`` compiles a program for an overlay and writes one image."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tabla.base.folder import replaced_file
from tabla.base.source import TablaError
from tabla.build.files.overlay import image_line
from tabla.build.pass_options import PassOptions
from tabla.commands.arguments import (
    add_build,
    add_file,
    add_json,
    add_options,
    add_quiet,
    remark_unused_inputs,
)
from tabla.commands.console import Console
from tabla.commands.models import build_of
from tabla.commands.output import write_json
from tabla.commands.pass_runs import pass_options, show_passes
from tabla.learn.options import LearnOptions
from tabla.program.overlay_image import read_image

SCHEMA = "tabla-load-1"


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    parser.add_argument("-o", "--output", metavar="FILE.image", help="the image (default: the program's name)")
    add_build(parser)
    add_options(parser, LearnOptions, PassOptions)
    add_json(parser)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Compile the program for the overlay, write the image and print its figures."""
    if arguments.onto is None:
        raise TablaError("an image is for an overlay, and none is named", hint="name its folder with --onto")
    if arguments.output == "":
        raise TablaError("-o names no file", hint="name a file, or leave -o out")
    shown = pass_options(arguments)
    made = build_of(arguments, console)
    show_passes(made, shown, console)
    remark_unused_inputs(arguments, console)
    console.progress(f"{arguments.file}: compiling")
    content = made.image_file
    for note in made.warnings:
        console.remark(f"warning: {note}")
    path = Path(arguments.output or f"{made.name}.image")
    with replaced_file(path) as fresh:
        fresh.write_bytes(content)
    words, report = len(read_image(content, str(path)).words), made.report()
    if arguments.json:
        entry = {"schema": SCHEMA, "words": words, "cycles": report.cycles, "latency": report.latency}
        overlay = made.overlay
        assert overlay is not None
        write_json(arguments.json, {**entry, "fingerprint": overlay.fingerprint}, console)
    if arguments.json != "-":
        console.report(report.text())
        console.report(image_line(content))
        console.result(f"written      {path}")
    return 0

"""``tabla build`` writes a bitstream for a board."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabla.base.folder import check_replaceable
from tabla.base.source import TablaError
from tabla.build.files.output_folder import write_bitstream, write_overlay_bitstream
from tabla.build.options import Options
from tabla.build.part_options import BoardOptions
from tabla.commands.arguments import add_build, add_file, add_json, add_options, add_quiet, build_options, record_of
from tabla.commands.console import Console
from tabla.commands.models import build_of
from tabla.commands.output import write_json
from tabla.learn.options import LearnOptions
from tabla.program.overlay_file import NAME, read_overlay
from tabla.templates.targets import board as find_board
from tabla.templates.targets import target as find_target

if TYPE_CHECKING:
    from tabla.build.synth.board import Bitstream


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    target = parser.add_argument_group("the board")
    target.add_argument("--board", metavar="NAME", required=True, help="its name (see tabla boards)")
    target.add_argument(
        "-o", "--output", metavar="FOLDER", default="bitstream", help="the output folder (default bitstream)"
    )
    add_options(parser, BoardOptions)
    add_build(parser)
    add_options(parser, LearnOptions)
    add_json(parser)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Build the bitstream, write the output folder and print the figures."""
    folder = Path(arguments.output)
    check_replaceable(folder)
    options = record_of(arguments, BoardOptions)
    if Path(arguments.file).is_dir():
        bitstream, content = _of_overlay(arguments, folder, options, console)
    else:
        made = build_of(arguments, console)
        for note in made.warnings:
            console.remark(f"warning: {note}")
        console.progress(f"{arguments.file}: compiling")
        board = find_board(arguments.board, arguments.templates)
        family = find_target(board.target, arguments.templates)
        # What is written is the design of the bitstream, so that which the board's part holds.
        made = made.fitted((family, family.device(board.device)), progress=console.remark)
        bitstream = made.bitstream(
            arguments.board,
            templates=arguments.templates,
            progress=console.progress,
            **options.given_for("bitstream"),
        )
        content = write_bitstream(made, bitstream, folder)
    if arguments.json:
        write_json(arguments.json, content, console)
    if arguments.json != "-":
        console.report(bitstream.text())
        console.result(f"written      {folder / (content['name'] + bitstream.suffix)}")
    return 0


def _of_overlay(
    arguments: Namespace, folder: Path, options: BoardOptions, console: Console
) -> tuple[Bitstream, dict[str, Any]]:
    """Build the bitstream of a folder of ``tabla overlay``, and return it with its figures."""
    from tabla.build.synth.board import build_bitstream
    from tabla.hw.emit import verilog

    if not (Path(arguments.file) / f"{NAME}.json").exists():
        raise TablaError(
            f"'{arguments.file}' is not a program, and no folder of tabla overlay",
            hint="give the program itself, such as model.t",
        )
    if replace(build_options(arguments), templates=None) != Options():
        raise TablaError(
            f"tabla overlay wrote '{arguments.file}', so options of the array and of the program have no effect",
            hint="give them to tabla overlay",
        )
    overlay = read_overlay(arguments.file)
    board = find_board(arguments.board, arguments.templates)
    console.progress("overlay: Verilog")
    text = verilog(overlay, NAME, stoppable=True)
    target = find_target(board.target, arguments.templates)
    bitstream = build_bitstream(overlay, NAME, text, board, target, options=options, progress=console.progress)
    return bitstream, write_overlay_bitstream(overlay, text, bitstream, folder)

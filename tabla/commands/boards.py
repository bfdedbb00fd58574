"""``tabla boards`` lists the boards with their chips and pins."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from tabla.commands.arguments import add_json, add_own_records
from tabla.commands.console import Console
from tabla.commands.output import write_json
from tabla.templates.targets import boards


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_own_records(parser)
    add_json(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Print one line for each board."""
    known = boards(arguments.templates).values()
    if arguments.json:
        write_json(arguments.json, {"schema": "tabla-boards-1", "boards": [asdict(b) for b in known]}, console)
    if arguments.json != "-":
        console.result(
            f"{'board':<14} {'title':<26} {'target':<7} {'device':<9} {'package':<9} {'grade':>5} {'clock':>8}"
            "  pins of clock, reset, to host, from host"
        )
        for board in known:
            grade = str(board.grade or "-")
            pins = " ".join((board.clock_pin, board.reset_pin, board.host_transmit, board.host_receive))
            console.result(
                f"{board.name:<14} {board.title:<26} {board.target:<7} {board.device:<9} {board.package:<9} {grade:>5}"
                f" {board.clock_hertz / 1e6:>4g} MHz  {pins}"
            )
    return 0

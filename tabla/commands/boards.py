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
        pins = "pins of clock, reset, to host, from host"
        rows = [("board", "title", "target", "device", "package", "grade", "clock", pins)]
        for board in known:
            grade = str(board.grade or "-")
            pins = " ".join((board.clock_pin, board.reset_pin, board.host_transmit, board.host_receive))
            clock = f"{board.clock_hertz / 1e6:g} MHz"
            rows.append((board.name, board.title, board.target, board.device, board.package, grade, clock, pins))
        console.table(rows, texts=(0, 1, 2, 3, 4, 7))
    return 0

"""``tabla templates``: the presets that the records offer."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path

from tabla.commands.arguments import add_json
from tabla.commands.console import Console
from tabla.commands.output import write_json
from tabla.source import TablaError
from tabla.templates.template import presets

HELP = "list the presets of the array"


def configure(parser: ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("--templates", metavar="FILE.td", help="a file of presets of your own")
    add_json(parser)


def run(arguments: Namespace, console: Console) -> int:
    """One line a preset."""
    if arguments.templates is not None and not Path(arguments.templates).is_file():
        raise TablaError(f"cannot read '{arguments.templates}': no such file", hint="check the path")
    known = sorted(presets(arguments.templates).values(), key=lambda t: (t.pes, t.name))
    if arguments.json:
        content = {"schema": "tabla-templates-1", "templates": [asdict(template) for template in known]}
        write_json(arguments.json, content, console)
    if arguments.json != "-":
        console.result(f"{'template':<12} {'PEs':>4} {'per PU':>7} {'format':>8} {'ring':>5}")
        for t in known:
            number = f"q{t.integer_bits}.{t.fraction_bits}"
            console.result(f"{t.name:<12} {t.pes:>4} {t.pes_per_pu:>7} {number:>8} {t.ring_slots:>5}")
    return 0

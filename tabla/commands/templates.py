"""``tabla templates`` lists the presets of the array and the number formats."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from tabla.commands.arguments import add_json, add_own_records
from tabla.commands.console import Console
from tabla.commands.output import write_json
from tabla.templates.template import formats, presets


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_own_records(parser)
    add_json(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Print one line for each preset, then one line with all number formats."""
    known = sorted(presets(arguments.templates).values(), key=lambda t: (t.pes, t.name))
    numbers = formats(arguments.templates).values()
    if arguments.json:
        content = {
            "schema": "tabla-templates-1",
            "templates": [asdict(template) for template in known],
            "formats": [asdict(number) for number in numbers],
        }
        write_json(arguments.json, content, console)
    if arguments.json != "-":
        rows = [("template", "PEs", "per PU", "format", "ring")]
        for t in known:
            number = f"q{t.integer_bits}.{t.fraction_bits}"
            rows.append((t.name, str(t.pes), str(t.pes_per_pu), number, str(t.ring_slots)))
        console.table(rows, texts=(0,))
        console.report(f"\nformats      {', '.join(f'{number.name} ({number.text})' for number in numbers)}")
    return 0

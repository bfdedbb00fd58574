"""``tabla targets`` lists the FPGA families and their devices."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from tabla.commands.arguments import add_json, add_own_records
from tabla.commands.console import Console
from tabla.commands.output import write_json
from tabla.templates.targets import KINDS, targets


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_own_records(parser)
    add_json(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Print one line for each device, then a note for each family that the tools support only in part."""
    known = targets(arguments.templates).values()
    if arguments.json:
        write_json(arguments.json, {"schema": "tabla-targets-1", "targets": [asdict(t) for t in known]}, console)
    if arguments.json != "-":
        rows: list[tuple[str, ...]] = [("target", "device", "part", *KINDS, "grades", "packages")]
        for target in known:
            for device in target.devices:
                held = map(str, device.capacities)
                grades = ",".join(map(str, device.grades)) if any(device.grades) else "-"
                packages = " ".join(device.packages)
                rows.append((target.name, device.name, device.part, *held, grades, packages))
        console.table(rows, texts=(0, 1, 2, len(rows[0]) - 2, len(rows[0]) - 1))
        for target in known:
            if target.note:
                console.report(f"note: {target.name}: {target.note}")
    return 0

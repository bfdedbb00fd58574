"""``tabla synth`` prints the area, the clock rate and the critical path on an FPGA."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from tabla.base.folder import MANIFEST_SCHEMA, OVERLAY_SCHEMA
from tabla.base.source import TablaError
from tabla.build.options import Options
from tabla.build.part_options import SEEDS, PartOptions
from tabla.build.synth import SynthesisReport, chosen_part, source_lines, synthesise
from tabla.commands.arguments import (
    add_build,
    add_json,
    add_options,
    add_quiet,
    build_options,
    record_of,
    remark_unused_inputs,
)
from tabla.commands.console import Console
from tabla.commands.models import build_of
from tabla.commands.output import write_json
from tabla.learn.options import LearnOptions
from tabla.templates.targets import target as find_target


def configure(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    text = "the program, or a folder of tabla gen or tabla overlay (default: the program of tabla.toml)"
    parser.add_argument("file", metavar="FILE|DIR", nargs="?", help=text)
    part = parser.add_argument_group("the FPGA")
    part.add_argument("--target", required=True, metavar="NAME", help="the family of the FPGA (see tabla targets)")
    add_options(parser, PartOptions)
    add_build(parser)
    add_options(parser, LearnOptions)
    add_json(parser)
    add_quiet(parser)


def run(arguments: Namespace, console: Console) -> int:
    """Synthesise a program or a folder of ``tabla gen`` and print the report."""
    asked = replace(record_of(arguments, PartOptions), templates=arguments.templates)
    asked = replace(asked, seeds=asked.seeds or SEEDS)
    find_target(arguments.target, arguments.templates)  # an unknown family is reported before any work
    if arguments.seeds is not None and not arguments.place_and_route:
        console.remark("note: --seeds has no effect without --pnr")
    folder = Path(arguments.file)
    if not folder.suffix and not folder.exists():
        raise TablaError(f"there is no folder '{folder}'", hint="name a program, or a folder of tabla gen")
    if folder.is_dir():
        if replace(build_options(arguments), templates=None) != Options():
            raise TablaError(
                f"tabla gen wrote '{folder}', so options of the array and of the program have no effect",
                hint="give them to tabla gen, or give the program instead of the folder",
            )
        report = _folder_report(folder, arguments.target, asked, console)
    else:
        made = build_of(arguments, console)
        remark_unused_inputs(arguments, console)
        for note in made.warnings:
            console.remark(f"warning: {note}")
        console.progress(f"{arguments.file}: compiling")
        made = made.fitted(chosen_part(arguments.target, asked), progress=console.remark)
        report = made.synthesise(arguments.target, progress=console.progress, **asked.given_for("synthesise"))
    if arguments.json:
        write_json(arguments.json, report.data(), console)
    if arguments.json != "-":
        console.report(report.text(console.width))
    return 0


def _folder_report(folder: Path, target: str, asked: PartOptions, console: Console) -> SynthesisReport:
    """Synthesise the Verilog in a folder of ``tabla gen`` or ``tabla overlay``.

    Its manifest has the module's name and, of a program, the cycles.
    """
    manifest = _manifest(folder)
    if manifest.get("overlay") and manifest["schema"] == MANIFEST_SCHEMA:
        raise TablaError(
            f"'{folder}' is a program for an overlay, and has no hardware of its own",
            hint="give the folder of the overlay to tabla synth",
        )
    path = folder / f"{manifest['name']}.v"
    try:
        verilog = path.read_text(encoding="utf-8")
        top = str(manifest["module"])
        alone = manifest["schema"] == MANIFEST_SCHEMA
        cycles = int(manifest["cycles"]) if alone else None
    except (OSError, UnicodeDecodeError):
        raise TablaError(f"cannot read '{path}'", hint="write the folder again with tabla gen") from None
    except (KeyError, TypeError, ValueError):
        raise TablaError(f"the manifest in '{folder}' is damaged", hint="write it again with tabla gen") from None
    lines = source_lines(verilog, path.name, top)
    progress = console.progress
    return synthesise(verilog, top, target, asked, narrow=not alone, cycles=cycles, lines=lines, progress=progress)


def _manifest(folder: Path) -> dict[str, Any]:
    for path in sorted(folder.glob("*.json")):
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(found, dict) and found.get("schema") in (MANIFEST_SCHEMA, OVERLAY_SCHEMA):
            kept = ("schema", "module", "cycles", "overlay")
            return {"name": path.stem, **{key: found[key] for key in kept if key in found}}
    raise TablaError(
        f"there is no manifest in '{folder}', so tabla gen did not write it",
        hint="name a program, or a folder of tabla gen",
    )

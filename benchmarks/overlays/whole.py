"""An overlay beside the accelerators of five programs, placed and routed on an ECP5.

python -m benchmarks.overlays.whole [--part 85k] [--grade 6] [--pes 16] [--seeds 1] [--template NAME]
    [--json FILE]

The overlay has the limits of a record ``Overlay``, by default those of the default one. The programs are those of
``make bench-fpga``, and the figures of their own accelerators are the rows of ``docs/fpga.md``, which that command
makes. FILE gets the overlays, and a file beside it with the suffix ``.md`` gets the second table of that page. Overlays
that FILE already has are kept unless they are measured again.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tabla
from benchmarks.fpga import SIZES
from benchmarks.learning.problems import problems
from tabla.base.source import TablaError
from tabla.build.files.overlay import overlay_files
from tabla.build.options import Options
from tabla.build.synth import nextpnr
from tabla.build.synth.yosys import Netlist, synthesise_flat
from tabla.driver import build
from tabla.program.overlay import Overlay, overlay_of
from tabla.templates.overlays import overlay_rooms
from tabla.templates.targets import Device, target
from tabla.templates.template import presets

PAGE = Path(tabla.__file__).resolve().parent.parent / "docs" / "fpga.md"
Row = dict[str, Any]


def measured(template: str, overlay: Overlay, netlist: Netlist, device: Device, grade: int, seeds: int) -> Row:
    """Return the figures of an overlay: the best of so many seeds, with the clock rate of each.

    An overlay that the device cannot hold has no clock rate; the row says why.
    """
    misfit, runs = "", list[nextpnr.Placement]()
    try:
        nextpnr.check_capacity(netlist, device)
    except TablaError as fault:
        misfit = fault.message
    else:
        runs = [nextpnr.place_and_route(netlist, device, grade, seed=seed) for seed in range(1, seeds + 1)]
    best = nextpnr.best(runs) if runs else None
    return {
        "template": template,
        "pes": overlay.parameters.pes,
        "part": device.part,
        "grade": grade,
        **netlist.taken,
        "megahertz": round(best.clock.claimed, 1) if best and best.clock else None,
        "seeds": {str(run.seed): round(run.clock.reported, 1) for run in runs if run.clock},
        "misfit": misfit,
        "critical_path": best.path.text().splitlines()[0] if best and best.path else "",
    }


def synthesised(template: str, pes: int) -> tuple[Overlay, Netlist]:
    """Return the overlay of a record and of so many PEs, and its cells."""
    overlay = overlay_of(presets()[f"Pe{pes}"], overlay_rooms()[template])
    verilog = overlay_files(overlay)["overlay.v"]
    return overlay, synthesise_flat(verilog, "overlay", target("ecp5").narrowed)


def cycles_on(overlay: Overlay) -> Iterator[tuple[str, int | None]]:
    """Yield the programs with their cycles on the overlay; None for those that it does not hold."""
    with tempfile.TemporaryDirectory(prefix="tabla-overlay-") as name:
        for file, text in overlay_files(overlay).items():
            (Path(name) / file).write_text(text, encoding="utf-8")
        for problem in (p for p in problems() if p.name in SIZES):
            try:
                yield problem.name, build(problem.file, Options(defines=problem.defines, onto=name)).schedule.cycles
            except TablaError as fault:
                print(f"{problem.name}: {fault.message}", file=sys.stderr)
                yield problem.name, None


def own_rows(part: str, grade: int) -> dict[tuple[str, int], list[str]]:
    """Return the rows of the programs' own accelerators: cycles, MHz, samples a second, LUT4s, DSP and RAM."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text(encoding="utf-8").splitlines()]
    found = [row for row in rows if len(row) == 10 and row[4] == f"{part}, {grade}"]
    return {(row[0], int(row[1])): [row[2], row[5], row[6], row[7], row[8], row[9]] for row in found}


def markdown(row: Row, cycles: Mapping[str, int | None]) -> str:
    """Return the table of an overlay and five programs: its figures, and those of each program's own array."""
    heads = ("program", "PEs", "cycles", "MHz", "samples/s", "LUT4 (per PE)", "DSP", "RAM")
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    own, pes, clock = own_rows(row["part"], row["grade"]), row["pes"], row["megahertz"]
    area = f"{row['LUT']:,} ({round(row['LUT'] / pes)}) | {row['DSP']} | {row['RAM']}"
    for name in SIZES:
        taken = cycles[name]
        rate = f"{round(clock * 1e6 / taken):,}" if clock and taken else ""
        cells = (f"{name} on {row['template']}", pes, taken or "does not fit", clock or "", rate, area)
        lines.append(f"| {' | '.join(map(str, cells))} |")
        if (name, pes) in own:
            taken_there, megahertz, samples, luts, dsp, ram = own[name, pes]
            megahertz = re.sub(r" \(\d+\)", "", megahertz)
            lines.append(f"| {name} | {pes} | {taken_there} | {megahertz} | {samples} | {luts} | {dsp} | {ram} |")
    return "\n".join(lines) + "\n"


def _place(row: Row) -> tuple[str, int, str, int]:
    return row["template"], row["pes"], row["part"], row["grade"]


def _write(file: Path, row: Row) -> None:
    """Write a row beside those of other arrays, and the table of all."""
    kept: list[Row] = json.loads(file.read_text(encoding="utf-8"))["rows"] if file.is_file() else []
    rows = sorted([*(other for other in kept if _place(other) != _place(row)), row], key=_place)
    content = {"schema": "tabla-overlays-2", "tool": f"tabla {tabla.__version__}", "rows": rows}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    file.with_suffix(".md").write_text("\n".join(markdown(r, r["cycles"]) for r in rows), encoding="utf-8")


def main(words: list[str]) -> int:
    """Measure the overlays, print the table of each, and write the files after each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overlays.whole")
    parser.add_argument("--part", default="85k")
    parser.add_argument("--grade", type=int, default=6)
    parser.add_argument("--pes", default="16")
    parser.add_argument("--template", choices=sorted(overlay_rooms()), default="DefaultOverlay")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(words)
    device = target("ecp5").device(asked.part)
    for size in asked.pes.split(","):
        overlay, netlist = synthesised(asked.template, int(size))
        row = measured(asked.template, overlay, netlist, device, asked.grade, asked.seeds)
        if row["misfit"]:
            print(f"{asked.template}, {size} PEs: {row['misfit']}", file=sys.stderr)
        row["cycles"] = dict(cycles_on(overlay))
        print(markdown(row, row["cycles"]), flush=True)
        if asked.json is not None:
            _write(asked.json, row)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The benchmark of ``make bench-fpga``: five learning algorithms on an ECP5, placed and routed.

python -m benchmarks.fpga [--parts 85k:6,85k:8,um5g-85k:8] [--pes 16,64] [--only logistic,svm] [--seeds 4] [--words N]
    [--json FILE]

The programs, their sizes and their number format are those of ``make bench``. ``--parts`` names devices with their
speed grades. ``--seeds`` is the number of runs of place and route for each row, of which the best is kept; with
``--seeds 0`` the designs are only synthesised. With ``--words`` the model and data memories of each PE have N words,
even if the program needs fewer.

Each row is printed as soon as it is measured. FILE gets all rows, and a file beside it with the suffix ``.md`` gets
the table of ``docs/fpga.md``. Rows that FILE already has are kept unless they are measured again, so a long run can be
done in parts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import tabla
from benchmarks.learning.aims import PEER
from benchmarks.learning.problems import problems
from tabla.build.synth import nextpnr
from tabla.build.synth.yosys import Netlist, synthesise_flat
from tabla.driver import Build, build
from tabla.templates.targets import target

SIZES = ("linear 55", "logistic 54", "svm 54", "reco 138x130x10", "backprop 8-16-3")
HEAD = (
    f"{'program':<16} {'PEs':>3}  {'part, grade':<15} {'cycles':>6} {'LUT4':>6} {'a PE':>5} {'FF':>6} {'DSP':>4}"
    f" {'RAM':>4} {'MHz':>6} {'samples/s':>11}"
)
Row = dict[str, Any]


def measured(name: str, made: Build, netlist: Netlist, part: str, grade: int, seeds: int) -> Row:
    """Return a row: the best of so many seeds, with the clock rate of each; without seeds only the resources."""
    device = target("ecp5").device(part)
    runs = [nextpnr.place_and_route(netlist, device, grade, seed=seed) for seed in range(1, seeds + 1)]
    best = nextpnr.best(runs) if runs else None
    taken, pes, cycles = netlist.taken, made.template.pes, made.schedule.cycles
    clock = best.clock if best else None
    return {
        "program": name,
        "pes": pes,
        "part": device.part,
        "grade": grade,
        "words_per_beat": made.schedule.stream_words,
        "cycles": cycles,
        **taken,
        "lut_per_pe": round(taken["LUT"] / pes),
        "megahertz": round(clock.claimed, 1) if clock else None,
        "limit": clock.reason if clock else "",
        "samples_per_second": round(clock.claimed * 1e6 / cycles) if clock else None,
        "seeds": {str(run.seed): round(run.clock.reported, 1) for run in runs if run.clock},
        "critical_path": best.path.text().splitlines()[0] if best and best.path else "",
    }


def rows(
    parts: list[tuple[str, int]], pes: list[int], only: list[str], seeds: int, words: int | None = None
) -> Iterator[Row]:
    """Yield the rows, those of small arrays first.

    `parts` are pairs of a device and a speed grade, and `only` names the kinds of programs to measure, or is empty.
    `words` is the depth of the model and data memories of each PE; None means the depth that the program needs.
    """
    chosen = [p for p in problems() if p.name in SIZES and (not only or p.kind in only)]
    for size in pes:
        for problem in chosen:
            options = replace(problem.options(size), model_words=words, data_words=words)
            made = build(problem.file, options)
            netlist = synthesise_flat(made.verilog, made.module, target("ecp5"))
            for part, grade in parts:
                yield measured(problem.name, made, netlist, part, grade, seeds)


def show(row: Row) -> str:
    """Return a row as a line of text."""
    clock = "-" if row["megahertz"] is None else f"{row['megahertz']:.1f}"
    rate = "-" if row["samples_per_second"] is None else f"{row['samples_per_second']:,}"
    return (
        f"{row['program']:<16} {row['pes']:>3}  {row['part'] + ', ' + str(row['grade']):<15} {row['cycles']:>6}"
        f" {row['LUT']:>6} {row['lut_per_pe']:>5} {row['FF']:>6} {row['DSP']:>4} {row['RAM']:>4} {clock:>6} {rate:>11}"
    )


def markdown(found: list[Row]) -> str:
    """Return the rows as the Markdown table of ``docs/fpga.md``, whose page explains the columns."""
    heads = ("program", "PEs", "cycles", "cycles of VeriGOOD-ML", "part, grade", "MHz (seeds)", "samples/s")
    heads += ("LUT4 (per PE)", "DSP", "RAM")
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for row in found:
        clock, rate = "not routed", ""
        if row["megahertz"] is not None:
            clock, rate = f"{row['megahertz']} ({len(row['seeds'])})", f"{row['samples_per_second']:,}"
        lines.append(
            f"| {row['program']} | {row['pes']} | {row['cycles']} | {PEER.get((row['program'], row['pes']), '')}"
            f" | {row['part']}, {row['grade']} | {clock} | {rate}"
            f" | {row['LUT']:,} ({row['lut_per_pe']}) | {row['DSP']} | {row['RAM']} |"
        )
    return "\n".join(lines) + "\n"


def key(row: Row) -> tuple[Any, ...]:
    """Return what a row is about. Rows are sorted by this key."""
    order = [name for name in SIZES if name == row["program"]]
    return row["pes"], SIZES.index(order[0]) if order else len(SIZES), row["part"], row["grade"]


def _kept(file: Path | None) -> list[Row]:
    if file is None or not file.is_file():
        return []
    found: list[Row] = json.loads(file.read_text(encoding="utf-8"))["rows"]
    return found


def main(words: list[str]) -> int:
    """Measure and print the rows, and write the files again after each row."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fpga")
    parser.add_argument("--parts", default="85k:6")
    parser.add_argument("--pes", default="16,64")
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--words", type=int)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(words)
    parts = [(name, int(grade)) for name, _, grade in (part.partition(":") for part in asked.parts.split(","))]
    only = [name for name in asked.only.split(",") if name]
    print(HEAD, flush=True)
    for row in rows(parts, [int(number) for number in asked.pes.split(",")], only, asked.seeds, asked.words):
        print(show(row), flush=True)
        if asked.json is not None:
            found = [other for other in _kept(asked.json) if key(other) != key(row)]
            content: dict[str, Any] = {
                "schema": "tabla-fpga-1",
                "tool": f"tabla {tabla.__version__}",
                "format": "q6.10",
                "rows": sorted([*found, row], key=key),
            }
            asked.json.parent.mkdir(parents=True, exist_ok=True)
            asked.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
            asked.json.with_suffix(".md").write_text(markdown(content["rows"]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

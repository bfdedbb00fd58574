"""What the wrapper costs on an ECP5: rows of ``make bench-fpga``, an array of 16 PEs with and without it.

python -m benchmarks.bus.cost [--part 85k] [--grade 6] [--seeds 4] [--widths 32,64] [--json FILE]

LUT4s are counted as nextpnr counts them. ``--seeds 0`` only synthesises.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import tabla
from benchmarks.bus.case import shape_of, wrapped_verilog
from benchmarks.learning.problems import problems
from tabla.build.synth import nextpnr
from tabla.build.synth.yosys import synthesise_flat
from tabla.driver import Build, build
from tabla.templates.targets import target

PROGRAM, PES = "linear 55", 16


def bare(made: Build) -> str:
    """Return the accelerator in a module ``bare``, whose inputs for programs are 0, as the wrapper ties them.

    Without it the memories of the microcode could be written, which the wrapper's array cannot.
    """
    header = re.search(rf"^module {made.module} \((.*?)^\);", made.verilog, re.DOTALL | re.MULTILINE)
    assert header is not None
    ports = re.findall(r"(input|output) (?:wire|reg) (\[\d+:0\] )?(\w+)", header[1])
    tied = [name for _, _, name in ports if name.startswith("program_")]
    declared = ", ".join(f"{flow} {span}{name}" for flow, span, name in ports if name not in tied)
    connected = ", ".join(f".{name}({0 if name in tied else name})" for _, _, name in ports)
    return f"{made.verilog}module bare ({declared});\n{made.module} array ({connected});\nendmodule\n"


def measured(made: Build, width: int, *, part: str, grade: int, seeds: int) -> dict[str, Any]:
    """Return a row: the resources with a bus of `width` bits, or without a wrapper for 0, and the best of the seeds."""
    family = target("ecp5")
    verilog, top = (wrapped_verilog(made, width), f"{made.module}_axi") if width else (bare(made), "bare")
    netlist = synthesise_flat(verilog, top, family)
    runs = [nextpnr.place_and_route(netlist, family.device(part), grade, seed=seed) for seed in range(1, seeds + 1)]
    best = nextpnr.best(runs) if runs else None
    shape = shape_of(made, width) if width else None
    return {
        "width": width,
        **netlist.taken,
        "buffer_bits": shape.buffer_beats * shape.stream_words * shape.width if shape else 0,
        "megahertz": round(best.clock.claimed, 1) if best and best.clock else None,
        "seeds": {str(run.seed): round(run.clock.reported, 1) for run in runs if run.clock},
    }


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a table. The first one is the array without a wrapper, from which the others differ."""
    lines = ["| bus | LUT4 | more | FF | RAM | bits of the buffer | MHz (seeds) |", "|" + "---|" * 7]
    for row in rows:
        name = f"{row['width']} bits" if row["width"] else "none"
        more = f"{row['LUT'] - rows[0]['LUT']:,}" if row["width"] else ""
        clock = "not routed" if row["megahertz"] is None else f"{row['megahertz']} ({len(row['seeds'])})"
        buffer = f"{row['buffer_bits']:,}" if row["width"] else ""
        lines.append(f"| {name} | {row['LUT']:,} | {more} | {row['FF']:,} | {row['RAM']} | {buffer} | {clock} |")
    return "\n".join(lines) + "\n"


def main(words: list[str]) -> int:
    """Measure and print the rows, and write the files again after each row."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bus.cost")
    parser.add_argument("--part", default="85k")
    parser.add_argument("--grade", type=int, default=6)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--widths", default="32,64")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(words)
    problem = next(problem for problem in problems() if problem.name == PROGRAM)
    made = build(problem.file, problem.options(PES))
    rows: list[dict[str, Any]] = []
    for width in [0, *(int(number) for number in asked.widths.split(","))]:
        rows.append(measured(made, width, part=asked.part, grade=asked.grade, seeds=asked.seeds))
        print(markdown(rows).splitlines()[-1], flush=True)
        if asked.json is not None:
            content = {"schema": "tabla-bus-cost-1", "tool": f"tabla {tabla.__version__}", "rows": rows}
            content |= {"program": PROGRAM, "pes": PES, "part": asked.part, "grade": asked.grade}
            asked.json.parent.mkdir(parents=True, exist_ok=True)
            asked.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
            asked.json.with_suffix(".md").write_text(markdown(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

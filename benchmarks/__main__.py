"""The benchmarks of ``make bench``.

python -m benchmarks [gen] [efforts] [engines] [evaluation] [learning] [minibatches] [kernels] [networks] [sizes]
    [records] [exploration] [cpu] [-o FOLDER]

``gen`` measures the time and the peak memory of ``tabla gen`` on each example. ``efforts`` measures its time, and the
cycles of a sample, at each level of ``--effort``. ``engines`` measures the simulated cycles per second of each engine.
``evaluation`` measures the samples per second that the evaluation learns in machine code. ``learning`` counts the
cycles of the published learning problems at full size, and ``minibatches`` those of steps of many samples. ``kernels``
counts the cycles of Tensor Comprehensions and the use of the multipliers. ``networks`` measures the cycles, the block
RAMs and the time of ``tabla gen`` of convolutional networks and others from ONNX; ``python -m benchmarks.networks``
measures some of them. ``sizes`` measures the time of ``tabla gen`` against the number of features. ``records`` runs
the TableGen front end on the intrinsics of LLVM. ``exploration`` measures how long 200 points of ``tabla explore`` take
on two cores. ``cpu`` measures the problems of the README in C on one core of this machine. If no part is named, all
parts run.

FOLDER gets all figures as ``benchmarks.json``, the table of the learning problems as ``learning.txt``, ``learning.csv``
and ``learning.md``, that of the steps as ``minibatches.md``, that of the processor as ``cpu.md``, and the times of
``tabla gen`` as ``gen-time.svg`` and ``gen-time.md``.

The exit status is 0 if the limits on the tool itself are kept: time, memory, simulated cycles and samples per
second. A number of cycles that misses its aim is marked in the tables and does not change the exit status.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tabla
from benchmarks.cpu.measure import PES as CPU_PES
from benchmarks.cpu.measure import bench_cpu, compiler, processor
from benchmarks.cpu.measure import markdown as cpu_table
from benchmarks.efforts import LEAST_EFFORT_SECONDS, bench_efforts
from benchmarks.engines import LEAST_CYCLES, NAMES, bench_engines
from benchmarks.evaluation import bench_evaluation
from benchmarks.exploration import MOST_SECONDS as EXPLORATION_SECONDS
from benchmarks.exploration import bench_exploration
from benchmarks.kernels.measure import HEAD as KERNELS_HEAD
from benchmarks.kernels.measure import bench_kernels
from benchmarks.kernels.problems import GEN_SECONDS as KERNEL_SECONDS
from benchmarks.learning.aims import GEN_MEGABYTES, GEN_SECONDS
from benchmarks.learning.gen_time import bench_sizes, picture, table
from benchmarks.learning.measure import bench_learning, bench_minibatches
from benchmarks.learning.table import COLUMN_NOTES, HEAD, LEGEND, as_csv, as_markdown, line, summary
from benchmarks.networks.table import bench_networks
from benchmarks.process import measured
from benchmarks.records import MOST_MEGABYTES as RECORDS_MEGABYTES
from benchmarks.records import MOST_SECONDS as RECORDS_SECONDS
from benchmarks.records import bench_records
from tabla.examples.catalogue import EXAMPLES
from tabla.graph.compiled.plans import available

PES = 16
MOST_SECONDS, MOST_MEGABYTES = 5.0, 500.0

Part = tuple[Any, bool]
"""The results of a part, as JSON values, and whether its limits were kept."""


def gen(_: Path | None) -> Part:
    """Measure ``tabla gen`` on each example.

    Each run is a process of its own, so its peak memory is its own. The time includes the start of Python.
    """
    print(f"gen at {PES} PEs      seconds  processor s  megabytes  Verilog kB   (aim: {MOST_SECONDS:g} s,", end=" ")
    print(f"{MOST_MEGABYTES:g} MB)")
    rows, met = [], True
    for name, example in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as folder:
            usage = measured(["gen", str(example.program), "-o", f"{folder}/out", "-q", "--pes", str(PES)])
            size = sum(p.stat().st_size for p in Path(folder).rglob("*.v")) / 1000
        # The limit is on processor time, because other work on the machine slows down the clock time only.
        fine = usage.processor_seconds <= MOST_SECONDS and usage.megabytes <= MOST_MEGABYTES
        met &= fine
        rows.append({"example": name, **asdict(usage), "verilog_kilobytes": size})
        numbers = f"{usage.seconds:>7.2f} {usage.processor_seconds:>12.2f} {usage.megabytes:>10.0f} {size:>11.0f}"
        print(f"{name:<18} {numbers}   {'' if fine else 'MISSED'}".rstrip(), flush=True)
    return rows, met


def efforts(_: Path | None) -> Part:
    """Every level of the search."""
    print(f"\nefforts at {PES} PEs    level   compile s   with Verilog s   cycles", end=" ")
    print(f"  (aim: compile in {LEAST_EFFORT_SECONDS:g} s at level 0; all on the processor)")
    rows, met = [], True
    for row in bench_efforts(PES):
        rows.append(asdict(row))
        met &= row.fine
        numbers = f"{row.effort:>7} {row.compile_seconds:>11.2f} {row.gen_seconds:>16.2f} {row.cycles:>8,}"
        print(f"{row.example:<18} {numbers}   {'' if row.fine else 'MISSED'}".rstrip(), flush=True)
    return rows, met


def engines(_: Path | None) -> Part:
    """Measure every engine whose tools are installed."""
    print(f"\nengines at {PES} PEs           cycles/s  ready after s   (aim: model {LEAST_CYCLES:,.0f})")
    rows, met = [], True
    for name in NAMES:
        for row in bench_engines(name, PES):
            rows.append(row)
            head = f"{row['example']:<12} {row['engine']:<12}"
            if "missing" in row:
                print(f"{head} {row['missing']}", flush=True)
                continue
            fine = row["engine"] != "model" or row["cycles_per_second"] >= LEAST_CYCLES
            met &= fine
            numbers = f"{row['cycles_per_second']:>11,.0f} {row['ready_seconds']:>14.1f}"
            print(f"{head} {numbers}   {'' if fine else 'MISSED'}".rstrip(), flush=True)
    return rows, met


def evaluation(_: Path | None) -> Part:
    """Measure the evaluation in machine code."""
    print("\nevaluation (processor time)   words, samples/s   float64, samples/s")
    if not available():
        print("numba is missing", flush=True)
        return [], True
    rows, met = [], True
    for row in bench_evaluation():
        rows.append(asdict(row))
        met &= row.fine
        end = f"(aim: {row.aim:,.0f}){'' if row.fine else '   MISSED'}"
        print(f"{row.program:<26} {row.words:>19,.0f} {row.float64:>20,.0f}   {end}", flush=True)
    return rows, met


def learning(folder: Path | None) -> Part:
    """Print and write the table of the learning problems."""
    print(f"\n{HEAD}", flush=True)
    rows = []
    for row in bench_learning():
        rows.append(row)
        print(line(row), flush=True)
    print(f"{summary(rows)}\n{LEGEND}")
    if folder:
        text = "\n".join([HEAD, *map(line, rows), summary(rows), LEGEND])
        (folder / "learning.txt").write_text(text + "\n", encoding="utf-8")
        (folder / "learning.csv").write_text(as_csv(rows), encoding="utf-8")
        (folder / "learning.md").write_text(f"{COLUMN_NOTES}\n{as_markdown(rows)}", encoding="utf-8")
    met = all(row.gen_seconds <= GEN_SECONDS and row.gen_megabytes <= GEN_MEGABYTES for row in rows)
    return [row.as_json() for row in rows], met


def minibatches(folder: Path | None) -> Part:
    """Print and write the table of steps of many samples."""
    print(f"\n{HEAD}", flush=True)
    rows = []
    for row in bench_minibatches():
        rows.append(row)
        print(line(row), flush=True)
    print(summary(rows))
    if folder:
        (folder / "minibatches.md").write_text(as_markdown(rows), encoding="utf-8")
    met = all(row.gen_seconds <= GEN_SECONDS and row.gen_megabytes <= GEN_MEGABYTES for row in rows)
    return [row.as_json() for row in rows], met


def kernels(_: Path | None) -> Part:
    """Print the table of the kernels. Only the time of ``tabla gen`` has a limit."""
    print(f"\n{KERNELS_HEAD}", flush=True)
    rows = []
    for row in bench_kernels():
        rows.append(row)
        print(row.line(), flush=True)
    return [row.as_json() for row in rows], all(row.seconds <= KERNEL_SECONDS for row in rows)


def networks(_: Path | None) -> Part:
    """Print the table of networks. Their aims are directions, so nothing here has a limit."""
    rows, _met = bench_networks()
    return [asdict(row) for row in rows], True


def sizes(folder: Path | None) -> Part:
    """Print the time of ``tabla gen`` against the number of features, and write it with a picture."""
    times = list(bench_sizes())
    print(f"\ngen by features\n{table(times)}", end="", flush=True)
    if folder:
        (folder / "gen-time.svg").write_text(picture(times), encoding="utf-8")
        (folder / "gen-time.md").write_text(table(times), encoding="utf-8")
    met = all(t.seconds <= GEN_SECONDS and t.megabytes <= GEN_MEGABYTES for t in times)
    return [asdict(t) for t in times], met


def records(_: Path | None) -> Part:
    """Print the time and the peak memory of the TableGen front end."""
    row = bench_records()
    print(f"\nTableGen, llvm/IR/Intrinsics.td: {row}", flush=True)
    if "missing" in row:
        return row, True
    return row, row["processor_seconds"] <= RECORDS_SECONDS and row["megabytes"] <= RECORDS_MEGABYTES


def exploration(_: Path | None) -> Part:
    """Print how long an exploration takes."""
    row = bench_exploration()
    times = f"{row.seconds:.1f} s, {row.processor_seconds:.1f} s on processors"
    aim = f"(aim: {EXPLORATION_SECONDS:g} s){'' if row.fine else '   MISSED'}"
    print(f"\nexplore {row.example}: {row.points} points, {row.front} on the front, {times}   {aim}", flush=True)
    return asdict(row), row.fine


def cpu(folder: Path | None) -> Part:
    """Print and write what a processor learns in a second. Nothing here has a limit."""
    if compiler() is None:
        print("\ncpu: gcc is missing", flush=True)
        return [], True
    print(f"\none core of {processor()}, {compiler()}")
    print(f"C, samples/s        -O3 -march=native   with -ffast-math   cycles, latency on {CPU_PES} PEs")
    rows = []
    for row in bench_cpu():
        rows.append(row)
        print(f"{row.program:<18} {row.strict:>18,.0f} {row.fast:>18,.0f} {row.cycles:>8} {row.latency:>8}", flush=True)
    if folder:
        (folder / "cpu.md").write_text(cpu_table(rows), encoding="utf-8")
    return {"processor": processor(), "compiler": compiler(), "rows": [asdict(row) for row in rows]}, True


PARTS: Mapping[str, Callable[[Path | None], Part]] = {
    "gen": gen,
    "efforts": efforts,
    "engines": engines,
    "evaluation": evaluation,
    "learning": learning,
    "minibatches": minibatches,
    "kernels": kernels,
    "networks": networks,
    "sizes": sizes,
    "records": records,
    "exploration": exploration,
    "cpu": cpu,
}


def main(words: list[str]) -> int:
    """Run the named parts, print their results, and write them if a folder is named. Return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, help="write figures, tables and pictures there")
    asked = parser.parse_args(words)
    if strangers := set(asked.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(strangers))}; there are {', '.join(PARTS)}")
    if asked.output:
        asked.output.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {
        "schema": "tabla-benchmark-1",
        "tool": f"tabla {tabla.__version__}",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "pes": PES,
    }
    met = True
    for name in PARTS:
        if name in (asked.parts or PARTS):
            results[name], fine = PARTS[name](asked.output)
            met &= fine
    if asked.output:
        (asked.output / "benchmarks.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What ``make bench`` measures.

python -m benchmarks [gen] [engines] [learning] [records] [FILE.json]

gen: time and peak memory of ``tabla gen`` on each example. engines: simulated cycles per second. learning: cycles of
the published problems at full size. records: our TableGen on LLVM's intrinsics. No part named: all of them.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tabla.examples.catalogue import EXAMPLES

import tabla
from benchmarks.learning import HEAD, bench_learning, show
from benchmarks.records import MOST_MEGABYTES as RECORDS_MEGABYTES
from benchmarks.records import MOST_SECONDS as RECORDS_SECONDS
from benchmarks.records import bench_records
from tabla.ir.words import to_words
from tabla.runs import shapes_of
from tabla.simulation import ENGINES, session
from tabla.source import TablaError
from tabla.training.arrays import initial_models

PARTS = {"gen", "engines", "learning", "records"}
PES = 16
MOST_SECONDS, MOST_MEGABYTES, LEAST_CYCLES = 5.0, 500.0, 20_000.0
SECONDS = 3.0  # for each engine, after it is built
FIRST_SAMPLES = 8


def bench_gen() -> Iterator[dict[str, Any]]:
    """A process each, so that memory is that of one run; Python's start is part of the time."""
    for name, example in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as folder:
            words = ["-m", "tabla", "gen", str(example.program), "-o", f"{folder}/out", "-q", "--pes", str(PES)]
            began = time.perf_counter()
            process = os.posix_spawn(
                sys.executable,
                [sys.executable, *words],
                os.environ,
                file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
            )
            _, status, usage = os.wait4(process, 0)
            seconds = time.perf_counter() - began
            assert status == 0, f"gen failed on {name}"
            size = sum(p.stat().st_size for p in Path(folder).rglob("*.v"))
        megabytes = usage.ru_maxrss / 1024
        yield {
            "example": name,
            "seconds": seconds,
            "processor_seconds": usage.ru_utime + usage.ru_stime,
            "megabytes": megabytes,
            "verilog_kilobytes": size / 1000,
        }


def bench_engines(name: str) -> Iterator[dict[str, Any]]:
    """Blocks of samples, doubled until an engine has worked for long enough; building it is timed apart."""
    build = tabla.compile(EXAMPLES[name].program, pes=PES)
    chance = np.random.default_rng(1)
    inputs, models = shapes_of(build.graph, "input", "label"), initial_models(shapes_of(build.graph, "model"), 1)
    words = {n: to_words(array, build.format, n) for n, array in models.items()}
    for engine in ENGINES:
        began = time.perf_counter()
        try:
            with session(build.schedule, build.image, engine, build.module) as machine:
                machine.load(words)
                samples, counted, passed, ready = FIRST_SAMPLES, 0, 0.0, 0.0
                while passed < SECONDS:
                    block = {
                        n: to_words(chance.uniform(-1, 1, (samples, *shape)), build.format, n)
                        for n, shape in inputs.items()
                    }
                    start = time.perf_counter()
                    machine.learn(block)
                    if not ready:  # the first block also waits for the simulator to start
                        ready = time.perf_counter() - began
                    else:
                        counted += machine.cycles * samples
                        passed += time.perf_counter() - start
                    samples *= 2
        except TablaError as missing:
            yield {"example": name, "engine": engine, "missing": missing.message}
            continue
        yield {"example": name, "engine": engine, "cycles_per_second": counted / passed, "ready_seconds": ready}


def main(parts: list[str]) -> int:
    """Print, write if a file is named, and say whether the aims are met."""
    results: dict[str, Any] = {
        "schema": "tabla-benchmark-1",
        "tool": f"tabla {tabla.__version__}",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "pes": PES,
    }
    where = next((part for part in parts if part.endswith(".json")), None)
    met = True
    if "gen" in parts:
        print(
            f"gen at {PES} PEs      seconds  megabytes  Verilog kB   (aim: {MOST_SECONDS:g} s, {MOST_MEGABYTES:g} MB)"
        )
        results["gen"] = []
        for row in bench_gen():
            results["gen"].append(row)
            # Time on the processor, so that neighbours on a shared machine do not count.
            fine = row["processor_seconds"] <= MOST_SECONDS and row["megabytes"] <= MOST_MEGABYTES
            met &= fine
            numbers = f"{row['seconds']:>7.2f} {row['processor_seconds']:>13.2f} {row['megabytes']:>10.0f}"
            numbers += f" {row['verilog_kilobytes']:>11.0f}"
            print(f"{row['example']:<18} {numbers}   {'' if fine else 'MISSED'}".rstrip(), flush=True)
    if "engines" in parts:
        print(f"\nengines at {PES} PEs           cycles/s  ready after s   (aim: model {LEAST_CYCLES:,.0f})")
        results["engines"] = []
        for name in ("logistic", "backprop"):
            for row in bench_engines(name):
                results["engines"].append(row)
                head = f"{row['example']:<12} {row['engine']:<12}"
                if "missing" in row:
                    print(f"{head} {row['missing']}", flush=True)
                    continue
                fine = row["engine"] != "model" or row["cycles_per_second"] >= LEAST_CYCLES
                met &= fine
                numbers = f"{row['cycles_per_second']:>11,.0f} {row['ready_seconds']:>14.1f}"
                print(f"{head} {numbers}   {'' if fine else 'MISSED'}".rstrip(), flush=True)
    if "learning" in parts:
        print(f"\n{HEAD}")
        results["learning"] = []
        for row in bench_learning():
            results["learning"].append(row)
            print(show(row), flush=True)
    if "records" in parts:
        row = results["records"] = bench_records()
        if "missing" not in row:
            met &= row["processor_seconds"] <= RECORDS_SECONDS and row["megabytes"] <= RECORDS_MEGABYTES
        print(f"\nTableGen, llvm/IR/Intrinsics.td: {row}", flush=True)
    if where:
        Path(where).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] if PARTS & set(sys.argv) else [*sorted(PARTS), *sys.argv[1:]]))

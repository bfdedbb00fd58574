"""Measuring the published learning problems in C on one core of the processor, beside the cycles of an array."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learning.problems import NAMES, Problem
from tabla.build.arrays import initial_models, shapes_of
from tabla.driver import Build, build
from tabla.graph.compiled.plans import NUMPY

SOURCE = Path(__file__).resolve().parent / "learn.c"
# The problems of the table in the README, and the size of its arrays.
PROBLEMS = (
    Problem(kind="linear", sizes=(55,)),
    Problem(kind="logistic", sizes=(54,)),
    Problem(kind="svm", sizes=(54,)),
    Problem(kind="reco", sizes=(138, 130, 10)),
    Problem(kind="backprop", sizes=(8, 16, 3)),
)
PES = 64
# The samples of a pass. Those of the largest problem take 570 kB.
SAMPLES = 256
STRICT: tuple[str, ...] = ("-std=gnu11", "-O3", "-march=native")
FAST: tuple[str, ...] = (*STRICT, "-ffast-math")
# Models are a real number each. In float32 their relative error after a pass is far below this.
TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A problem on one core and on an array.

    `strict` and `fast` are samples learnt in a second of processor time, without and with ``-ffast-math``. `cycles` are
    those of the array for a sample, and `latency` is their number from the first word of a sample to its last update.
    """

    program: str
    strict: float
    fast: float
    cycles: int | float
    latency: int


def processor() -> str:
    """Return the name of the processor, as Linux tells it."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return "unknown processor"
    found = re.search(r"^model name\s*: (.*)$", told, re.MULTILINE)
    return found[1] if found else "unknown processor"


def compiler() -> str | None:
    """Return what gcc says of its version, or None if there is no gcc."""
    if shutil.which("gcc") is None:
        return None
    return subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def compiled(problem: Problem, flags: tuple[str, ...], folder: Path) -> Path:
    """Compile the C program for a problem, and return its path. All sizes are known to the compiler."""
    rate = re.search(r"^mu = ([\d.]+);", problem.file.read_text(encoding="utf-8"), re.MULTILINE)
    assert rate
    sizes = zip(NAMES[problem.kind], problem.sizes, strict=True)
    macros = [problem.kind.upper(), f"SAMPLES={SAMPLES}", f"MU={rate[1]}f", *(f"{n.upper()}={s}" for n, s in sizes)]
    made = folder / problem.kind
    words = ["gcc", *flags, "-Wall", "-Wextra", "-Werror", *(f"-D{macro}" for macro in macros), str(SOURCE)]
    subprocess.run([*words, "-o", str(made), "-lm"], check=True)
    return made


def drawn(made: Build) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return models to start from, and inputs and labels between -1 and 1."""
    graph, chance = made.lowered, np.random.default_rng(1)
    shapes = shapes_of(graph, "input", "label")
    data = {tensor: chance.uniform(-1, 1, (SAMPLES, *shape)) for tensor, shape in shapes.items()}
    return dict(initial_models(shapes_of(graph, "model"), 1)), data


def learnt(program: Path, models: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
    """Run the C program. Return its models after one pass over the data, and the samples that it learns in a second."""
    given, taken = program.with_suffix(".in"), program.with_suffix(".out")
    arrays = [*models.values(), *data.values()]
    given.write_bytes(b"".join(np.asarray(array, dtype=np.float32).tobytes() for array in arrays))
    said = subprocess.run([program, given, taken], capture_output=True, text=True, check=True).stdout
    words, found, at = np.fromfile(taken, dtype=np.float32), {}, 0
    for name, array in models.items():
        found[name] = words[at : at + array.size].reshape(array.shape)
        at += array.size
    assert at == len(words)
    return found, float(said)


def measured(problem: Problem, pes: int = PES) -> Row:
    """Measure a problem. Models that differ from those of the evaluation in float64 are an AssertionError."""
    made = build(problem.file, problem.options(pes))
    models, data = drawn(made)
    plan = NUMPY.real(made.lowered, made.format)
    plan.load(models)
    wanted = plan.run(data, [], SAMPLES).models
    rates = []
    with tempfile.TemporaryDirectory(prefix="tabla-cpu-") as name:
        for flags in (STRICT, FAST):
            found, rate = learnt(compiled(problem, flags, Path(name)), models, data)
            for model, array in wanted.items():
                assert np.allclose(found[model], array, rtol=TOLERANCE, atol=TOLERANCE), f"{problem.name}: {model}"
            rates.append(rate)
    schedule = made.schedule
    return Row(program=problem.name, strict=rates[0], fast=rates[1], cycles=schedule.cycles, latency=schedule.latency)


def bench_cpu() -> Iterator[Row]:
    """Yield a row for each problem of the README."""
    for problem in PROBLEMS:
        yield measured(problem)


def markdown(rows: list[Row]) -> str:
    """Return the rows as a table."""
    lines = [f"One core of {processor()}, {compiler()}.", ""]
    lines += ["| program | C, -O3 -march=native, samples/s | with -ffast-math, samples/s | cycles | latency |"]
    lines += ["|" + "---|" * 5]
    lines += [f"| {r.program} | {r.strict:,.0f} | {r.fast:,.0f} | {r.cycles} | {r.latency} |" for r in rows]
    return "\n".join(lines) + "\n"

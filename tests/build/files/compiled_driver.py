"""The C driver compiled for a test, on the Verilated wrapper or on a SoC around it, and what must come of a case."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.build.files.c_driver import tensors_of
from tabla.driver import Build
from tabla.graph.evaluate import FixedPlan
from tabla.host.engines.cocotb_run import _environment, available, require
from tests.linear_program import linear_text

HERE = Path(__file__).parent / "c_driver"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]
needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
needs_verilator = pytest.mark.skipif(not available("verilator"), reason="Verilator, g++ or make is missing")

LINEAR = linear_text(7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A build, the words of its models and of its steps, and the layout of its units."""

    build: Build
    models: dict[str, Any]
    steps: dict[str, Any]
    layout: dict[str, Any]

    @property
    def units(self) -> int:
        return len(next(iter(self.steps.values())))

    def order(self, kind: str) -> list[str]:
        return list(tensors_of(self.layout, kind))

    def write(self, path: Path, epochs: int) -> None:
        parts = [np.array([epochs, self.units])]
        parts += [self.models[name] for name in self.order("load")]
        parts += [self.steps[name] for name in self.order("sample")]
        path.write_bytes(b"".join(np.asarray(part, dtype=np.int32).tobytes() for part in parts))

    def read(self, path: Path, dumps: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The models of each dump, and the results."""
        words, at = np.fromfile(path, dtype=np.int32), 0

        def take(shape: tuple[int, ...]) -> Any:
            nonlocal at
            at += (size := int(np.prod(shape)))
            return words[at - size : at].reshape(shape)

        models = [{n: take(p.shape[1:]) for n, p in tensors_of(self.layout, "dump").items()} for _ in range(dumps)]
        results = {n: take((self.units, *p.shape[1:])) for n, p in tensors_of(self.layout, "result").items()}
        assert at == len(words)
        return models, results


def built(folder: Path, source: Path, **options: Any) -> Build:
    """A build with its folder."""
    build = tabla.compile(source, bus="axi", **options)
    build.write(folder)
    return build


def compiled(
    folder: Path, build: Build, work: Path, bus_bits: int, units_in_buffer: int, soc: Path | None = None
) -> Path:
    """The program of the test: the driver in C99 with sanitizers, and the wrapper, or a SoC around it, in Verilator."""
    shape, module = build.bus_shape, build.module
    assert shape is not None
    most = max(shape.run_beats * shape.stream_words, shape.run_words) * shape.container // 8
    room = max(most * units_in_buffer, shape.load_beats * shape.stream_words * shape.container // 8) + 8
    program = [f"-include{build.name}.h", f"-DPROGRAM={module}_program", f"-DBUFFER={room}", f"-I{folder}"]
    return linked(
        [folder / f"{build.name}.v", folder / f"{build.name}_axi.v", *([soc] if soc else [])],
        "soc" if soc else f"{module}_axi",
        folder / "tabla.c",
        "main.c",
        program,
        work,
        {"BUS_BITS": bus_bits, "CONTAINER": shape.container // 8},
    )


def linked(
    verilog: list[Path], top: str, driver: Path, main: str, program: list[str], work: Path, sizes: dict[str, int]
) -> Path:
    """A main program of ours with the driver, and the top module of some Verilog in Verilator.

    `program` are the options with which the main program is compiled, and `sizes` are those of the wrapper.
    """
    environment = _environment(require("verilator"))
    # LiteX writes combinational logic with non-blocking assignments, and time scales.
    quiet = ["-Wno-fatal", "-Wno-lint", "-Wno-COMBDLY", "-Wno-TIMESCALEMOD"]
    verilator = ["verilator", "--cc", *quiet, "--x-assign", "unique", "--prefix", "Vtop"]
    options = ["--Mdir", str(work), "--top-module", top]
    run([*verilator, *options, *map(str, verilog)], work.parent, environment)
    # So few cycles are simulated that a quick build serves best.
    make = ["make", "-s", "-j2", "OPT_FAST=-O0", "-C", str(work), "-f", "Vtop.mk"]
    run([*make, "libVtop.a", "libverilated.a"], work, environment)
    includes = [f"-I{driver.parent}", f"-I{HERE}"]
    strict = [*STRICT, *SANITIZERS, *includes]
    run(["gcc", *strict, "-c", str(driver), "-o", "tabla.o"], work, environment)
    run(["gcc", *strict, *program, "-c", str(HERE / main), "-o", "main.o"], work, environment)
    found = re.search(r"^VERILATOR_ROOT = (.*)$", (work / "Vtop.mk").read_text(), re.MULTILINE)
    assert found
    verilated = [f"-I{found[1]}/include", f"-I{found[1]}/include/vltstd", f"-I{work}"]
    macros = [f"-D{name}={size}" for name, size in sizes.items()]
    source = HERE / ("litex.cpp" if top == "soc" else "verilated.cpp")
    platform = [*includes, *verilated, *macros, "-c", str(source), "-o", "p.o"]
    run(["g++", *platform], work, environment)
    objects = ["main.o", "tabla.o", "p.o", "libVtop.a", "libverilated.a"]
    run(["g++", *SANITIZERS, *objects, "-pthread", "-latomic", "-o", "main"], work, environment)
    return work / "main"


def run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    """Run a command, which must succeed; what it says."""
    done = subprocess.run(
        command, cwd=folder, env=environment or dict(os.environ), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def cases(build: Build, folder: Path, models: dict[str, Any], steps: dict[str, Any]) -> Case:
    """A case with the layout that lies in the folder."""
    layout = dict(np.load(folder / f"{build.name}.layout.npz"))
    return Case(build=build, models=models, steps=steps, layout=layout)


def expected(case: Case, epochs: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The models after each epoch, and the results of the last one, by the fixed-point evaluation."""
    plan = FixedPlan.of(case.build.lowered, case.build.format)
    plan.load(case.models)
    shown, models = dict(case.build.lowered.results), []
    for _ in range(epochs):
        made = plan.run(case.steps, list(shown.values()), case.units)
        models.append(made.models)
    return models, {name: made.kept[tensor] for name, tensor in shown.items()}


def predicted(case: Case, models: dict[str, Any]) -> dict[str, Any]:
    """The results of each step with the same models, by the fixed-point evaluation."""
    plan = FixedPlan.of(case.build.lowered, case.build.format)
    shown, made = dict(case.build.lowered.results), list[dict[str, Any]]()
    for step in range(case.units):
        plan.load(models)
        one = {name: array[step : step + 1] for name, array in case.steps.items()}
        kept = plan.run(one, list(shown.values()), 1).kept
        made.append({name: kept[tensor] for name, tensor in shown.items()})
    return {name: np.concatenate([each[name] for each in made]) for name in shown}


def same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Every word of every array is equal."""
    assert found.keys() == wanted.keys()
    for name, words in wanted.items():
        assert np.array_equal(found[name], np.asarray(words).reshape(found[name].shape)), name

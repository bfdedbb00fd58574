"""The C driver, compiled with every warning and both sanitizers, on the Verilated wrapper: training, and faults."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tabla.examples.catalogue import EXAMPLES
from tabla.sim.engines.cocotb_run import _environment, available, require
from tabla.templates.bus import registers

import tabla
from tabla.driver import Build
from tabla.ir.evaluate import FixedPlan
from tabla.learning import learning_start
from tabla.report.c_driver import driver_files, tensors_of
from tabla.runs import steps_of, words_of
from tabla.source import TablaError

HERE = Path(__file__).parent / "c_driver"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]
needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
needs_verilator = pytest.mark.skipif(not available("verilator"), reason="Verilator, g++ or make is missing")

LINEAR = """\
m = 7;
mu = 0.25;
model_input  x[m];
model_output y;
model        w[m], b;
gradient     gw[m] -> w, gb -> b;
iterator     i[0:m];
h = sum[i](w[i] * x[i]) + b;
e = h - y;
gw[i] = e * x[i];
gb = e;
"""


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

        models = [
            {n: take(p.shape[1:]) for n, p in tensors_of(self.layout, "dump").items()} for _ in range(dumps)
        ]
        results = {n: take((self.units, *p.shape[1:])) for n, p in tensors_of(self.layout, "result").items()}
        assert at == len(words)
        return models, results


def built(folder: Path, source: Path, **options: Any) -> Build:
    """A build with its folder."""
    build = tabla.compile(source, bus="axi", **options)
    build.write(folder)
    return build


def compiled(folder: Path, build: Build, work: Path, bus_bits: int, units_in_buffer: int) -> Path:
    """The program of the test: the driver in C99 with sanitizers, and the wrapper in Verilator."""
    module = build.module
    environment = _environment(require("verilator"))
    verilator = ["verilator", "--cc", "-Wno-fatal", "-Wno-lint", "--x-assign", "unique", "--prefix", "Vtop"]
    sources = [str(folder / f"{build.name}.v"), str(folder / f"{build.name}_axi.v")]
    options = ["--Mdir", str(work), "--top-module", f"{module}_axi"]
    run([*verilator, *options, *sources], work.parent, environment)
    run(["make", "-s", "-C", str(work), "-f", "Vtop.mk", "libVtop.a", "libverilated.a"], work, environment)
    includes = [f"-I{folder}", f"-I{HERE}"]
    shape = build.bus_shape
    assert shape is not None
    most = max(shape.run_beats * shape.stream_words, shape.run_words) * shape.container // 8
    room = max(most * units_in_buffer, shape.load_beats * shape.stream_words * shape.container // 8) + 8
    program = [f"-include{build.name}.h", f"-DPROGRAM={module}_program", f"-DBUFFER={room}"]
    strict = [*STRICT, *SANITIZERS, *includes]
    run(["gcc", *strict, "-c", str(folder / "tabla.c"), "-o", "tabla.o"], work, environment)
    run(["gcc", *strict, *program, "-c", str(HERE / "main.c"), "-o", "main.o"], work, environment)
    found = re.search(r"^VERILATOR_ROOT = (.*)$", (work / "Vtop.mk").read_text(), re.MULTILINE)
    assert found
    verilated = [f"-I{found[1]}/include", f"-I{found[1]}/include/vltstd", f"-I{work}"]
    sizes = [f"-DBUS_BITS={bus_bits}", f"-DCONTAINER={shape.container // 8}"]
    platform = [*includes, *verilated, *sizes, "-c", str(HERE / "verilated.cpp"), "-o", "p.o"]
    run(["g++", "-O1", *platform], work, environment)
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


def same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Every word of every array is equal."""
    assert found.keys() == wanted.keys()
    for name, words in wanted.items():
        assert np.array_equal(found[name], np.asarray(words).reshape(found[name].shape)), name


@needs_compiler
@needs_verilator
def test_a_small_program_learns_and_every_fault_is_named_and_mended(tmp_path: Path) -> None:
    (tmp_path / "small.t").write_text(LINEAR, encoding="utf-8")
    folder, work = tmp_path / "build", tmp_path / "work"
    work.mkdir()
    options = {"pes": 2, "format": "q4.8", "results": ("h",), "effort": 0, "bus_width": 64}
    build = built(folder, tmp_path / "small.t", **options)
    chance = np.random.default_rng(3)
    models = {"w": chance.integers(-200, 200, 7), "b": chance.integers(-200, 200, ())}
    steps = {"x": chance.integers(-500, 500, (11, 7)), "y": chance.integers(-500, 500, 11)}
    case = cases(build, folder, models, steps)
    case.write(tmp_path / "in", 3)
    main = compiled(folder, build, work, 64, 4)
    said = run([str(main), "train", str(tmp_path / "in"), str(tmp_path / "out")], work)
    assert "events of overflow" in said
    dumps, results = case.read(tmp_path / "out", 3)
    wanted, kept = expected(case, 3)
    for found, words in zip(dumps, wanted, strict=True):
        same(found, words)
    same(results, kept)

    said = run([str(main), "faults", str(tmp_path / "in"), str(tmp_path / "out")], work)
    played = re.findall(r"^([a-z ]+): TABLA_", said, re.MULTILINE)
    assert len(played) == len(set(played)) == 15
    for bit in ("SHORT", "LONG", "KEEP", "RANGE"):
        assert f"\n  {bit}: " in said
    dumps, _ = case.read(tmp_path / "out", len(played))
    once, _ = expected(case, 1)
    for found in dumps:
        same(found, once[0])


@needs_compiler
@needs_verilator
@pytest.mark.slow
def test_ten_epochs_of_wine_give_every_word_of_train(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    example, folder, work = EXAMPLES["backprop"], tmp_path / "build", tmp_path / "work"
    work.mkdir()
    build = built(folder, example.program, pes=16)
    data = dict(example.arrays())
    start = learning_start(build, data, seed=0)
    words = words_of(build, start.ready.parts.training.arrays)
    case = cases(build, folder, words_of(build, start.models), steps_of(build, words))
    case.write(tmp_path / "in", 10)
    main = compiled(folder, build, work, 32, 100)
    run([str(main), "train", str(tmp_path / "in"), str(tmp_path / "out")], work)
    dumps, _ = case.read(tmp_path / "out", 10)
    same(dumps[-1], dict(build.train(data, epochs=10, seed=0).words))
    for found, wanted in zip(dumps, expected(case, 10)[0], strict=True):
        same(found, wanted)


def test_every_bit_of_status_has_a_sentence_and_the_driver_has_no_register_of_its_own() -> None:
    files = driver_files()
    status = next(register for register in registers() if register.name == "STATUS")
    for field in status.fields:
        assert f'{{TABLA_STATUS_{field.name}_MASK, "{field.name}: ' in files["tabla.c"], field.name
    for register in registers():
        assert f"#define TABLA_{register.name}_OFFSET 0x{register.offset:03X}u" in files["tabla.h"]
    assert "@" not in files["tabla.h"] and "malloc" not in files["tabla.c"]


@needs_compiler
@pytest.mark.parametrize("options", [{"model_guard": 8}, {"minibatch": 4}, {"format": "q16.16"}, {"format": "q4.4"}])
def test_headers_of_all_kinds_of_programs_compile(options: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "small.t").write_text(LINEAR.replace("w", "_W'"), encoding="utf-8")
    build = built(tmp_path / "build", tmp_path / "small.t", pes=2, effort=0, **options)
    layout = np.load(io.BytesIO((tmp_path / "build/small.layout.npz").read_bytes()))
    # `small` is a reserved word of Verilog, so the module has another name.
    (tmp_path / "main.c").write_text(LIST.replace("small_", f"{build.module}_"), encoding="utf-8")
    run(["gcc", *STRICT, "-Ibuild", "main.c", "-o", "main"], tmp_path)
    said = [line.split() for line in run([str(tmp_path / "main")], tmp_path).splitlines()]
    wanted = []
    for kind in ("load", "sample", "result", "dump"):
        wanted.append([str(len(layout[f"{kind}.template"])), *map(str, layout[f"{kind}.template"])])
        for name, places in tensors_of(dict(layout), kind).items():
            wanted.append([name, *map(str, places.reshape(-1))])
    assert said == wanted
    assert [name for name in tensors_of(dict(layout), "load") if f"dump/{name}" in layout] == list(
        tensors_of(dict(layout), "dump")
    )
    assert build.bus_shape is not None


LIST = """\
#include <stdio.h>
#include "small.h"
static void list(const struct tabla_unit *unit)
{
    printf("%u", (unsigned)unit->containers);
    for (uint32_t at = 0; at < unit->containers; at++)
        printf(" %d", (int)(unit->words ? unit->words[at] : 0));
    for (uint32_t number = 0; number < unit->tensors; number++) {
        const struct tabla_tensor *tensor = &unit->tensor[number];
        printf("\\n%s", tensor->name);
        for (uint32_t at = 0; at < tensor->size * tensor->copies; at++)
            printf(" %u", (unsigned)tensor->places[at]);
    }
    puts("");
}
int main(void)
{
    list(&small_program.load);
    list(&small_program.sample);
    list(&small_program.result);
    list(&small_program.dump);
    return 0;
}
"""


@pytest.mark.parametrize("name", ["tabla", "stdint"])
def test_a_program_with_the_name_of_a_header_of_the_driver_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.t").write_text(LINEAR, encoding="utf-8")
    build = tabla.compile(tmp_path / f"{name}.t", bus="axi", pes=2, effort=0)
    with pytest.raises(TablaError, match=rf"'{name}\.h' is the name of another header"):
        build.write(tmp_path / "build")
    assert not (tmp_path / "build").exists()

"""The C driver, compiled with every warning and both sanitizers, on the Verilated wrapper: training, and faults."""

from __future__ import annotations

import io
import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.base.source import TablaError
from tabla.build.arrays import steps_of, words_of
from tabla.build.files.c_driver import driver_files, program_header, tensors_of
from tabla.build.files.overlay import overlay_files
from tabla.examples.catalogue import EXAMPLES
from tabla.graph.format import Format
from tabla.learn.data.dataset import Data
from tabla.learn.options import LearnOptions
from tabla.learn.train import learning_start
from tabla.program.overlay import OverlayBus, overlay_of
from tabla.program.overlay_file import overlay_record
from tabla.program.overlay_registers import PROGRAM, overlay_registers
from tabla.program.overlay_words import Status
from tabla.templates.bus import PREDICT, registers
from tabla.templates.template import presets
from tests.build.files.compiled_driver import (
    LINEAR,
    STRICT,
    built,
    cases,
    compiled,
    expected,
    linked,
    needs_compiler,
    needs_verilator,
    predicted,
    run,
    same,
)
from tests.small_overlay import ROOM


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

    # A prediction without the labels leaves every word of the models.
    run([str(main), "predict", str(tmp_path / "in"), str(tmp_path / "out")], work)
    dumps, results = case.read(tmp_path / "out", 4)
    for found, words in zip(dumps, [*wanted, wanted[-1]], strict=True):
        same(found, words)
    same(results, predicted(case, wanted[-1]))

    # Every word is the same when the host sleeps until the interrupt, which ends every pause.
    said = run([str(main), "woken", str(tmp_path / "in"), str(tmp_path / "out")], work)
    woken = re.search(r"woken (\d+) times, 0 times not", said)
    assert woken and int(woken[1]) >= 3, said
    for found, words in zip(case.read(tmp_path / "out", 3)[0], wanted, strict=True):
        same(found, words)

    said = run([str(main), "faults", str(tmp_path / "in"), str(tmp_path / "out")], work)
    played = re.findall(r"^([a-z ]+): TABLA_", said, re.MULTILINE)
    assert len(played) == len(set(played)) == 18
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
    start = learning_start(build, Data(data), LearnOptions(seed=0))
    words = words_of(build, start.ready.parts.training.arrays)
    case = cases(build, folder, words_of(build, start.models), steps_of(build, words))
    case.write(tmp_path / "in", 10)
    main = compiled(folder, build, work, 32, 100)
    run([str(main), "train", str(tmp_path / "in"), str(tmp_path / "out")], work)
    dumps, _ = case.read(tmp_path / "out", 10)
    same(dumps[-1], dict(build.train(data, epochs=10, seed=0).words))
    for found, wanted in zip(dumps, expected(case, 10)[0], strict=True):
        same(found, wanted)


@needs_compiler
@needs_verilator
@pytest.mark.slow
def test_two_programs_on_one_overlay_and_wrong_images_between_them(tmp_path: Path) -> None:
    overlay = overlay_of(presets()["Pe2"], replace(ROOM, stream_words=2), OverlayBus(bits=32, step_words=16))
    (tmp_path / "overlay").mkdir()
    for name, text in overlay_files(overlay).items():
        (tmp_path / "overlay" / name).write_text(text, encoding="utf-8")
    chance, words, found, options = np.random.default_rng(3), list[str](), [], list[str]()
    for macro, program in (("FIRST", "logistic"), ("SECOND", "linear")):
        folder = tmp_path / program
        build = tabla.compile(
            EXAMPLES[program].program, onto=tmp_path / "overlay", defines={"m": 5}, results=("h",), effort=0
        )
        build.write(folder)
        models = {"w": chance.integers(-2000, 2000, 5), "b": chance.integers(-2000, 2000, ())}
        steps = {"x": chance.integers(-1000, 1000, (6, 5)), "y": chance.integers(0, 1000, 6)}
        case = cases(build, folder, models, steps)
        case.write(folder / "in", 1)
        words += [str(folder / "in"), str(folder / "out")]
        options += [f"-I{folder}", f"-include{program}.h", f"-D{macro}={program}_program"]
        found.append((case, folder / "out"))
    (tmp_path / "work").mkdir()
    verilog = [tmp_path / "overlay" / f"overlay{part}.v" for part in ("", "_axi")]
    options.append("-DBUFFER=256")
    sizes = {"BUS_BITS": 32, "CONTAINER": 2}
    driver = tmp_path / "linear/tabla.c"
    main = linked(verilog, "overlay_axi", driver, "overlay.c", options, tmp_path / "work", sizes)
    run([str(main), *words], tmp_path)
    for case, out in found:
        dumps, results = case.read(out, 4)
        wanted, kept = expected(case, 1)
        for models in dumps:
            same(models, wanted[0])
        same(results, kept)


def test_the_driver_has_the_offsets_of_an_overlay() -> None:
    overlay = overlay_of(presets()["Pe2"], ROOM, OverlayBus(bits=32, step_words=16))
    there = {register.name: register.offset for register in overlay_registers(overlay)}
    for name in ("PROGRAM_STATUS", "PROGRAM_DATA", "OVERLAY_FINGERPRINT"):
        assert f"#define TABLA_{name}_OFFSET 0x{there[name]:03X}u" in driver_files()["tabla.h"]
    assert f"PROGRAM = {PROGRAM}, PREDICT = {PREDICT} }}" in driver_files()["tabla.c"]
    assert f"#define IMAGE_RUNS {Status.RUNS.value}u" in driver_files()["tabla.c"]


@pytest.mark.parametrize("bus", [None, OverlayBus(bits=32, step_words=16)])
def test_a_program_for_an_overlay_has_a_driver_where_there_is_a_bus(bus: OverlayBus | None, tmp_path: Path) -> None:
    (tmp_path / "overlay").mkdir()
    record = overlay_record(overlay_of(presets()["Pe2"], ROOM, bus))
    (tmp_path / "overlay/overlay.json").write_text(json.dumps(record), encoding="utf-8")
    build = tabla.compile(EXAMPLES["linear"].program, onto=tmp_path / "overlay", defines={"m": 3})
    build.write(tmp_path / "build")
    there = {path.name for path in (tmp_path / "build").iterdir()}
    assert there.isdisjoint({"linear.h", "tabla.h", "tabla.c"}) if bus is None else {"linear.h", "tabla.c"} <= there


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
    (tmp_path / "main.c").write_text((LIST + EACH_UNIT).replace("small_", f"{build.module}_"), encoding="utf-8")
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


EVIL = ('*/ #error "out" /*', 'w"; int x = 1; //', "two\nlines\\", "what??/", "/*/*", "grün", "tab\t7", "*/")


@needs_compiler
def test_no_name_of_a_tensor_gets_out_of_its_comment_or_string(tmp_path: Path) -> None:
    """ONNX and Python know tensors with any names."""
    layout = {f"{kind}/{name}": np.array([[3, 1]], dtype=np.int32) for kind in ("load", "sample") for name in EVIL}
    layout |= {f"{kind}/{name}": np.array([2, 0], dtype=np.int32) for kind in ("result", "dump") for name in EVIL}
    layout |= {f"{kind}.template": np.arange(4, dtype=np.int32) for kind in ("load", "sample", "result", "dump")}
    shape = tabla.compile(EXAMPLES["logistic"].program, bus="axi", pes=2, effort=0).bus_shape
    assert shape is not None
    header = program_header("small", "small", 1, shape, Format.parse("q6.10"), layout)
    (tmp_path / "small.h").write_text(header, encoding="utf-8")
    (tmp_path / "small_registers.h").touch()
    for file, text in driver_files().items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    (tmp_path / "main.c").write_text(NAMES + EACH_UNIT, encoding="utf-8")
    run(["gcc", *STRICT, "-Wtrigraphs", "-I.", "main.c", "-o", "main"], tmp_path)
    found = subprocess.run([tmp_path / "main"], capture_output=True, check=True).stdout
    assert sorted(found.decode().split("\0")[:-1]) == sorted(4 * EVIL)


EACH_UNIT = """\
int main(void)
{
    list(&small_program.load);
    list(&small_program.sample);
    list(&small_program.result);
    list(&small_program.dump);
    return 0;
}
"""
NAMES = """\
#include <stdio.h>
#include "small.h"
static void list(const struct tabla_unit *unit)
{
    for (uint32_t number = 0; number < unit->tensors; number++)
        printf("%s%c", unit->tensor[number].name, 0);
}
"""
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
"""


@pytest.mark.parametrize("name", ["tabla", "stdint"])
def test_a_program_with_the_name_of_a_header_of_the_driver_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.t").write_text(LINEAR, encoding="utf-8")
    build = tabla.compile(tmp_path / f"{name}.t", bus="axi", pes=2, effort=0)
    with pytest.raises(TablaError, match=rf"'{name}\.h' is the name of another header"):
        build.write(tmp_path / "build")
    assert not (tmp_path / "build").exists()

"""What a new field of an operation touches, as ``docs/extend/field.md`` says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.host.engines.amaranth_run import AmaranthMachine
from tabla.program.decode import disassemble
from tabla.program.host import Host
from tabla.program.layout import operation_layout
from tabla.sim.model.cycle_model import CycleModel
from tabla.sim.model.trace import decode_operation
from tabla.templates import instructions, records
from tests.extend.pages import shown

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """n = 4;
model_input x[n]; model w[n]; iterator i[0:n];
h = sum[i](w[i] * x[i]);
"""


@pytest.fixture
def marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose `lane_issue` has one more bit, `mark`. Nothing but the record says so."""
    text = records.MACHINE.read_text(encoding="utf-8")
    old = "  bits<3> gate;\n  bits<21> Inst;\n"
    assert text.count(old) == 1
    text = text.replace(old, "  bits<3> gate;\n  bit mark;\n  bits<22> Inst;\n  let Inst{21} = mark;\n")
    (tmp_path / "machine.td").write_text(text, encoding="utf-8")
    monkeypatch.setattr(instructions, "MACHINE", tmp_path / "machine.td")
    caches = (instructions.operation_format, instructions._symbolic)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def test_a_field_of_the_record_reaches_every_reader(marked: None, tmp_path: Path) -> None:
    """Assembler, disassembler, cycle model and hardware take the wider word, and do with it what they did before."""
    (tmp_path / "model.t").write_text(PROGRAM)
    build = tabla.compile(tmp_path / "model.t", pes=2, results=("h",))
    image, parameters = build.image, build.image.parameters
    mark = operation_layout("lane_issue", parameters).fields["mark"]
    words = tuple(word | mark.insert(1) for word in image.operations["lane_issue"])
    image = replace(image, operations={**image.operations, "lane_issue": words})
    assert all(decode_operation(word, "lane_issue", parameters).numbers["mark"] == 1 for word in words)
    assert "mark=1" in disassemble(image)
    host, chance = Host(build.schedule), np.random.default_rng(2)
    load = host.load_beats({"w": chance.integers(-900, 900, 4)})
    samples = chance.integers(-900, 900, (3, 4))
    found = []
    for machine in (CycleModel(image), AmaranthMachine(image), CycleModel(build.image)):
        with machine:
            machine.load(load)
            found.append(machine.run(host.sample_beats({"x": samples}), 3).outputs)
    assert found[0] == found[1] == found[2]
    assert len(set(found[0])) == 3


def naming(field: str) -> set[str]:
    """The files of the product that name a field of an operation: as a string, or as a field of a record."""
    pattern = re.compile(rf'"{field}"|\bbits?(?:<\d+>)? {field};')
    return {
        shown(path.relative_to(ROOT))
        for path in sorted((ROOT / "tabla").rglob("*"))
        if path.suffix in (".py", ".td") and pattern.search(path.read_text(encoding="utf-8"))
    }


def test_a_field_takes_five_files_and_one_of_loop_levels_three_more() -> None:
    """The gate of a sum: its record, the body that asks for it, hardware, cycle model, and the checker of schedules.

    The trials of a test bench move loops to other levels and draw other gates, so the hardware has all gates.
    """
    assert naming("gate") == {
        "templates/machine.td",
        "tabla/schedule/strands/bodies.py",
        "hw/sequencer.py",
        "sim/model/trace.py",
        "tabla/schedule/check/evaluation.py",
        "tabla/build/bench/mutated_loops.py",
        "tabla/build/bench/mutated_microcode.py",
        "hw/features.py",
    }


def test_the_page_names_files_that_there_are() -> None:
    text = (ROOT / "docs" / "extend" / "field.md").read_text(encoding="utf-8")
    files = re.findall(r"`((?:tabla|hw|sim|templates|tests|docs)/[\w/.-]+)`", text)
    assert len(files) > 10
    assert all((ROOT / file).exists() for file in files), files
    assert all(f"`{file}`" in text for file in naming("gate"))

"""The data sheet of the ports: its program and its pictures, held against what an engine takes and does."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from manual import timing
from tabla.program.host import Host
from tabla.sim.model.cycle_model import CycleModel
from tests.pages import DOCS, blocks

PAGE = DOCS / "ports.md"


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> tabla.Build:
    path = tmp_path_factory.mktemp("ports") / "line.t"
    path.write_text(timing.program())
    return tabla.compile(path, pes=2, stream_words=2, results=["h"])


def test_the_program_of_the_page_feeds_the_engine_and_reads_what_it_learned(build: tabla.Build, tmp_path: Path) -> None:
    (code,) = [block.body for block in blocks(PAGE.read_text(encoding="utf-8")) if block.file == "pack.py"]
    assert len([line for line in code.splitlines() if line.strip() and '"""' not in line]) <= 15
    (tmp_path / "pack.py").write_text(code)
    spec = importlib.util.spec_from_file_location("pack", tmp_path / "pack.py")
    assert spec and spec.loader
    pack: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pack)
    build.write(tmp_path / "line")
    layout = np.load(tmp_path / "line" / "line.layout.npz")
    chance, host = np.random.default_rng(3), Host(build.schedule)
    models = {"w": chance.integers(-900, 900, 5), "b": np.asarray(chance.integers(-900, 900))}
    samples = {"x": chance.integers(-900, 900, (4, 5)), "y": chance.integers(-900, 900, 4)}
    units = [pack.packed(layout, "sample", {name: words[n] for name, words in samples.items()}) for n in range(4)]
    words = build.schedule.stream_words
    engine = CycleModel(build.image)
    engine.load(pack.packed(layout, "load", models).reshape(-1, words).tolist())
    outputs = engine.run(np.concatenate(units).reshape(-1, words).tolist(), 4).outputs
    learned = pack.unpacked(layout, "dump", np.asarray(engine.dump(host.dump_count)))
    one = build.format.one
    inputs = {name: array / one for name, array in {**models, **samples}.items()}
    wanted = build.evaluate(inputs)
    assert {name: (array / one).tolist() for name, array in learned.items()} == {
        name: np.asarray(wanted[name]).tolist() for name in models
    }
    last = pack.unpacked(layout, "result", np.asarray(outputs).reshape(4, -1)[-1])
    assert (last["h"] / one).tolist() == np.asarray(wanted["h"])[-1].tolist()


def test_every_port_of_the_verilog_is_on_the_page_in_its_order(build: tabla.Build) -> None:
    header = build.verilog.partition("module line (")[2].partition(");")[0]
    ports = re.findall(r"(\w+),?$", header, re.MULTILINE)
    table = PAGE.read_text(encoding="utf-8").partition("| port |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row)] == ports


def test_the_pictures_are_what_the_simulation_does() -> None:
    pytest.importorskip("wavedrom", reason="the pictures need WaveDrom")
    for name, picture in timing.pictures().items():
        assert (DOCS / f"{name}.svg").read_text(encoding="utf-8") == picture
        assert f"({name}.svg)" in PAGE.read_text(encoding="utf-8")

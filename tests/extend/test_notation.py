"""A notation from outside the package: the one that docs/extend/notation.md adds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.base.source import TablaError
from tabla.languages import Notation, register, table
from tests.extend.pages import snippets, write_files

ROOT = Path(__file__).parents[2]


@pytest.fixture
def scaling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notation]:
    """The notation of the page, not registered; what a test registers is forgotten after it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(table, "_NOTATIONS", dict(table._NOTATIONS))
    write_files("notation.md", tmp_path)
    import scaling

    yield scaling.SCALING
    del sys.modules["scaling"]


def test_the_page_runs(scaling: Notation) -> None:
    (snippet,) = snippets("notation.md")
    exec(compile(snippet, "notation.md", "exec"), {})


@pytest.mark.parametrize("factor", ["0.75", "3", "0.001953125"])
def test_words_are_those_of_the_meaning(scaling: Notation, factor: str) -> None:
    register(scaling)
    Path("one.scale").write_text(f"out[7] = {factor} * given\n")
    build = tabla.compile("one.scale", pes=4, format="q6.10")
    words = np.random.default_rng(3).integers(-(1 << 15), 1 << 15, 7)
    exact = np.floor(words * float(factor) + 0.5)
    expected = np.clip(exact, -(1 << 15), (1 << 15) - 1) / 1024
    for run in (build.evaluate, lambda arrays: build.simulate(arrays).arrays):
        assert run({"given": words / 1024})["out"].tolist() == expected.tolist()
    assert build.name == "one" and "out[i] = " in build.emit("graph")


def test_faults_have_a_place_and_a_cure(scaling: Notation) -> None:
    register(scaling)
    Path("bad.scale").write_text("y[4] = x\n")
    with pytest.raises(TablaError, match="not a scaling") as caught:
        tabla.compile("bad.scale")
    assert (caught.value.line, caught.value.column, caught.value.hint) == (1, 1, "write y[4] = 0.75 * x")
    Path("large.scale").write_text("y[4] = 4000000.0 * x\n")
    with pytest.raises(TablaError, match=r"4000000 does not fit q6\.10") as caught:
        tabla.compile("large.scale", format="q6.10")
    assert caught.value.line == 1
    with pytest.raises(TablaError, match="--shape is for Tile functions"):
        tabla.compile("bad.scale", shapes={"x": (4,)})


def test_the_table_of_notations(scaling: Notation) -> None:
    with pytest.raises(TablaError, match=r"'y\.scale' is not a program") as caught:
        tabla.compile("y.scale")
    known = "model.t, kernel.tc[:def], layer.py:function, layer.cpp:function, x.ir[:function], x.ttc[:function]"
    assert caught.value.hint == f"programs are {known}, x.kernel, x.graph and model.onnx"
    register(scaling)
    with pytest.raises(ValueError, match=r"'\.scale' have a notation already"):
        register(scaling)
    with pytest.raises(ValueError, match="does not start with a dot"):
        register(Notation(suffix="scale", shown="y.scale", read=scaling.read))
    with pytest.raises(TablaError) as caught:
        tabla.compile("y.other")
    assert caught.value.hint == f"programs are {known}, x.kernel, x.graph, model.onnx and vector.scale"


def test_members_are_for_notations_that_have_them(scaling: Notation) -> None:
    asked: list[str | None] = []

    def read(path: Path, member: str | None, options: object) -> object:
        asked.append(member)
        raise TablaError(f"read {path.name}")

    register(Notation(suffix=".many", shown="many", read=read, has_members=True))  # type: ignore[arg-type]
    for file in ("a.many", "a.many:second"):
        with pytest.raises(TablaError, match=r"read a\.many$"):
            tabla.compile(file)
    assert asked == [None, "second"]
    register(scaling)
    with pytest.raises(TablaError, match=r"'a\.scale:second' is not a program"):
        tabla.compile("a.scale:second")


def test_the_command_line_finds_those_of_installed_packages(scaling: Notation, tmp_path: Path) -> None:
    installed = tmp_path / "scaling-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: scaling\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[tabla.notations]\nscale = scaling:SCALING\n")
    (tmp_path / "half.scale").write_text("y[4] = 0.5 * x\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    command = [sys.executable, "-m", "tabla", "gen", "half.scale", "--emit", "graph"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "result y" in ran.stdout

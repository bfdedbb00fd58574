"""An engine from outside the package: the one that docs/extend/engine.md adds."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import tabla
from tabla.host.engines import session
from tabla.host.engines.session import checked_engine, open_machine, register_engine
from tabla.program.image import Image
from tabla.sim.machine import Machine
from tests.extend.pages import snippets, write_files

ARRAYS = {"x": [[0.5] * 4, [0.25] * 4, [1.0] * 4], "w": [0.125] * 4}


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module of the page; its engine leaves the table with the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(session, "ENGINES", dict(session.ENGINES))
    write_files("engine.md", tmp_path)
    import recorder

    yield recorder
    del sys.modules["recorder"]


def learner(tmp_path: Path) -> tabla.Build:
    """A program of four weights."""
    text = "model_input x[4]; model w[4]; gradient g[4] -> w; iterator i[0:4];"
    (tmp_path / "line.t").write_text(text + "s = sum[i](w[i] * x[i]); g[i] = s * x[i];\n")
    return tabla.compile(str(tmp_path / "line.t"), pes=2)


def test_the_page_runs(recorder: ModuleType) -> None:
    for snippet in snippets("engine.md"):
        exec(compile(snippet, "engine.md", "exec"), {})


def test_what_it_records_plays_again_on_another_engine(recorder: ModuleType, tmp_path: Path) -> None:
    build = learner(tmp_path)
    found = build.simulate(ARRAYS, engine="recorder")
    load, run, dump = json.loads((tmp_path / "commands.json").read_text())
    with open_machine(build.image, "model", build.module) as machine:
        machine.load(load["in"])
        assert machine.run(run["in"], 3).outputs == run["out"]
        assert machine.dump(build.schedule.dump_count) == dump["out"]
    assert found.arrays["w"].shape == (4,)


def test_names_that_are_taken(recorder: ModuleType) -> None:
    def opener(image: Image, module: str) -> Machine:
        raise AssertionError("nobody opens it")

    for name in ("model", "recorder", "serial:mine", ""):
        with pytest.raises(tabla.TablaError, match="an engine cannot be called"):
            register_engine(name, opener)
    assert checked_engine("recorder") == "recorder"


def test_without_it_the_name_is_unknown() -> None:
    with pytest.raises(tabla.TablaError, match="unknown engine 'recorder'") as caught:
        checked_engine("recorder")
    assert caught.value.hint and "model, cxxrtl, verilator, icarus, amaranth" in caught.value.hint


def test_an_engine_with_a_fault_is_found(recorder: ModuleType, tmp_path: Path) -> None:
    """One wrong bit of one word: the simulation is compared with the evaluation."""

    class Broken(recorder.Recorder):  # type: ignore[name-defined, misc]
        def dump(self, count: int) -> list[int]:
            first, *rest = super().dump(count)
            return [first ^ 1, *rest]

    register_engine("broken", lambda image, module: Broken(image))
    with pytest.raises(AssertionError):
        learner(tmp_path).simulate(ARRAYS, engine="broken")

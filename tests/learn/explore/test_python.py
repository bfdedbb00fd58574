"""``tabla.explore`` of Python: the points of the command, its refusals, and its files."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

import tabla
from tabla.base.source import TablaTypeError
from tabla.commands.cli import main
from tests.logistic_program import LOGISTIC


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a program."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.t").write_text(LOGISTIC)
    return tmp_path


def test_it_finds_what_the_command_finds(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    found = tabla.explore("model.t", pes=(1, 2), format=("q6.10", "q3.5"))
    words = ["explore", "model.t", "--pes", "1,2", "--format", "q6.10,q3.5", "--workers", "1", "--json", "-"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out) == found.as_json()
    assert found.front() == found.front(found.parts[0]) == found.front("LFE5U-85F:6") != ()
    with pytest.raises(tabla.TablaError, match="has no part 'LFE5U-85F:7'") as fault:
        found.front("LFE5U-85F:7")
    assert isinstance(fault.value, ValueError) and fault.value.hint == "there are LFE5U-85F:6"
    with pytest.raises(TablaTypeError, match="part: 5 is no part"):
        found.front(5)  # type: ignore[arg-type]
    assert all(each in found.points for each in found.front())
    assert len(found.points) == 4
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.points = ()  # type: ignore[misc]
    found.write("report")
    found.write("report")
    assert json.loads((folder / "report" / "explore.json").read_text()) == found.as_json()
    assert found.points[0].point.name in (folder / "report" / "index.html").read_text()
    (folder / "mine").mkdir()
    (folder / "mine" / "x").touch()
    with pytest.raises(tabla.TablaError, match="tabla explore did not write it"):
        found.write("mine")
    assert [path.name for path in (folder / "mine").iterdir()] == ["x"]


def test_one_value_is_as_good_as_several() -> None:
    found = tabla.explore("model.t", pes=2, format="q3.5", minibatch=2, part=("LFE5U-25F:6", "LFE5U-85F:6"))
    assert [each.point.minibatch for each in found.points] == [2, 2]
    with pytest.raises(tabla.TablaError, match="each of the parts"):
        found.front()
    assert {each.part.name for each in found.front("LFE5U-25F:6")} == {"LFE5U-25F:6"}


def test_none_leaves_the_guard_bits_to_the_tool() -> None:
    found = tabla.explore("model.t", pes=2, format="q3.5", model_guard=None)
    assert found.as_json() == tabla.explore("model.t", pes=2, format="q3.5", model_guard=()).as_json()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"pes": "4..64"}, "pes: '4..64' is not a whole number"),
        ({"pes": ()}, "pes: there is none"),
        ({"minibatch": 0}, "minibatch: 0 is less than 1"),
        ({"model_guard": (0, 40)}, "model_guard: 40 is more than 16"),
        ({"format": ()}, "format: there is none"),
        ({"epochs": 3}, "there is no data for: epochs"),
        ({"standardise": True}, "there is no data for: standardise"),
        ({"timeout": 3}, "timeout: only the workers of a cluster"),
        ({"source": lambda x: x}, "an exploration takes the name of a file"),
        ({"data": 3}, "data: 3 does not map names to values"),
        ({"scheduler": 5}, "scheduler: 5 is not a text"),
        ({"remark": 5}, "remark: this is not a function"),
        ({"data": "data.npz", "metric": "mse"}, "cannot be compared by the metric 'mse'"),
        ({"seeds": 3}, "seeds: they are the tries of a synthesis"),
        ({"workers": 2, "scheduler": "tcp://x:1"}, "workers are processes of this machine"),
        ({"part": "XC7A35T"}, "part: "),
        ({"output": "model.t"}, "'model.t' is not a folder"),
    ],
)
def test_refusals(given: dict[str, object], says: str) -> None:
    with pytest.raises(tabla.TablaError, match=says.replace(".", r"\.")) as found:
        tabla.explore(**{"source": "model.t", "pes": 2, **given})  # type: ignore[arg-type]
    assert found.value.hint or says.endswith("is not a whole number")
    assert isinstance(found.value, TablaTypeError) == (
        says.startswith(("pes: '", "an expl", "data", "sched", "remark"))
    )

"""What a release states: its licence, its version, the supported Pythons, and a schema in every JSON file."""

from __future__ import annotations

import configparser
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla._version import VERSION
from tabla.commands.cli import main

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """m = 3;
model_input x[m]; model_output y; model w[m]; gradient g[m] -> w; iterator i[0:m];
h = sum[i](w[i] * x[i]);
g[i] = (h - y) * x[i];
"""
# The commands that write JSON. The tests of `tabla synth` and `tabla build` are in tests/build/synth.
SCHEMAS = {
    "gen model.t -q": "tabla-report-1",
    "check model.t": "tabla-check-1",
    "sim model.t --inputs in.npz --engine model": "tabla-sim-1",
    "train model.t --data data.npz --engine model --epochs 1": "tabla-train-1",
    "test model.t --weights w.npz --data data.npz": "tabla-test-1",
    "templates": "tabla-templates-1",
    "targets": "tabla-targets-1",
    "boards": "tabla-boards-1",
    "doctor": "tabla-doctor-1",
}
FILES = {
    "model.json": "tabla-manifest-1",
    "model.schedule.json": "tabla-schedule-1",
    "program/image.json": "tabla-image-1",
    "tb/golden.json": "tabla-golden-2",
}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("model.t").write_text(PROGRAM)
    samples: dict[str, Any] = {"x": np.full((4, 3), 0.5), "y": np.ones(4)}
    np.savez("data.npz", **samples)
    np.savez("in.npz", **samples, w=np.zeros(3))
    np.savez("w.npz", w=np.zeros(3))
    return tmp_path


@pytest.mark.parametrize("words", SCHEMAS)
def test_json_of_commands_has_a_schema(words: str, work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words.split(), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == SCHEMAS[words]


def test_json_of_the_output_folder_has_schemas_tool_and_licence(work: Path) -> None:
    assert main(["gen", "model.t", "-q", "--pes", "1", "-o", "out"]) == 0
    found = {str(p.relative_to("out")): json.loads(p.read_text()) for p in Path("out").rglob("*.json")}
    assert {name: content["schema"] for name, content in found.items()} == FILES
    assert found["model.json"]["tool"] == f"tabla {VERSION}"
    assert "belongs to whoever generated it" in found["model.json"]["verilog_licence"]


def test_no_advice_installs_the_other_project() -> None:
    """The package index has another project as tabla. So pages and messages name extras in a clone only."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    assert setup["metadata"]["name"] == "tabla-fpga"
    advice = re.compile(r"pip install (-\S+ )*['\"]?tabla\b(?!-)|\btabla\[")
    for top in ("tabla", "docs", "benchmarks", "README.md", "CONTRIBUTING.md"):
        for path in sorted((ROOT / top).rglob("*")) if (ROOT / top).is_dir() else [ROOT / top]:
            if path.suffix in (".py", ".md", ".j2", ".html", ".txt"):
                found = advice.search(path.read_text(encoding="utf-8"))
                assert found is None, f"{path}: {found and found[0]}"


def test_licence_and_pythons_are_stated() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "Apache License" in (ROOT / "LICENSE").read_text() and setup["metadata"]["license"] == "Apache-2.0"
    assert "Licence: Apache-2.0. The Verilog that `tabla` writes" in readme
    pythons = re.findall(r"Python :: (3\.\d+)$", setup["metadata"]["classifiers"], re.MULTILINE)
    assert pythons == ["3.11", "3.12", "3.13"]
    assert setup["options"]["python_requires"] == ">=3.11,<3.14"
    assert "Python 3.11, 3.12 or 3.13" in readme and "CONTRIBUTING.md" in readme
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## .*{re.escape(VERSION)}", changes, re.MULTILINE)

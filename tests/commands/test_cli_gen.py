"""``tabla gen``: the output folder is written completely or not at all, with the same bytes every time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tabla.base.folder import replaced_folder
from tabla.commands.cli import main

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (ROOT / "examples/logistic.t").read_text(encoding="utf-8")


WORDS = ("gen", "--pes", "4", "--result", "h")


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ``tabla gen`` wrote for a program whose stem is no legal name in Verilog."""
    folder = tmp_path_factory.mktemp("gen")
    (folder / "2layer.x.t").write_text(PROGRAM.replace("y;", "y';"))
    assert main(["gen", str(folder / "2layer.x.t"), "-o", str(folder / "out"), "--pes", "4", "--result", "h"]) == 0
    return folder / "out"


def test_files(made: Path) -> None:
    found = files(made).keys()
    for suffix in ("v", "json", "schedule.json", "schedule.html", "graph.dot", "graph.svg"):
        assert f"2layer.x.{suffix}" in found
    assert {"program/stream.strands.hex", "program/root_issue.operations.hex", "program/sigmoid.base.hex"} <= found
    assert {"tb/run.py", "tb/test_golden.py", "tb/golden.json", "tb/golden.bin"} <= found


def test_manifest(made: Path) -> None:
    manifest = json.loads((made / "2layer.x.json").read_text())
    assert manifest["schema"] == "tabla-manifest-1"
    numbers = ("cycles", "latency", "bound", "ratio", "multiplies", "utilisation", "microcode_words", "model_words")
    assert all(isinstance(manifest[name], (int, float)) for name in numbers)
    assert {"multiplies", "path", "stream"} <= manifest["bound_terms"].keys()
    assert manifest["bound"] == max(manifest["bound_terms"].values())
    assert manifest["ratio"] == pytest.approx(manifest["cycles"] / manifest["bound"], abs=1e-6)
    assert manifest["format"] == "q6.10"
    assert manifest["module"] == "n2layer_x"
    assert manifest["names"]["y'"] == "y_prime"
    shapes = {t["name"]: (t["role"], t["shape"]) for t in manifest["tensors"]}
    assert shapes == {
        "x": ("input", [30]),
        "y'": ("label", []),
        "w": ("model", [30]),
        "b": ("model", []),
        "h": ("result", []),
    }
    beats = sum(segment["beats"] for segment in manifest["stream"]["sample"])
    golden = json.loads((made / "tb/golden.json").read_text())
    assert beats == golden["sample_beats"]
    assert sum(segment["beats"] for segment in manifest["stream"]["load"]) == golden["load"]["beats"][1]
    places = {"to_data", "to_model", "to_interim", "to_root_data", "to_root_memory", "all"}
    for segment in (*manifest["stream"]["sample"], *manifest["stream"]["load"]):
        assert segment["to"]
        assert set(segment["to"]) <= places
    for memory in manifest["program"]["memories"]:
        assert len((made / memory["file"]).read_text().split()) == memory["words"]


def test_manifest_lists_the_ports_of_the_verilog(made: Path) -> None:
    text = (made / "2layer.x.v").read_text()
    found = re.search(r"^module n2layer_x \((.*?)\);", text, re.MULTILINE | re.DOTALL)
    assert found
    port = re.compile(r"^\s*(input|output) (?:wire|reg) (?:\[(\d+):0\] )?(\w+),?$", re.MULTILINE)
    declared = {name: (direction, int(high or 0) + 1) for direction, high, name in port.findall(found[1])}
    ports = json.loads((made / "2layer.x.json").read_text())["ports"]
    assert {p["name"]: (f"{p['direction']}put", p["bits"]) for p in ports} == declared


def test_the_same_bytes_under_any_hash_seed(made: Path, tmp_path: Path) -> None:
    for seed in ("1", "77"):
        subprocess.run(
            [sys.executable, "-m", "tabla", *WORDS, str(made.parent / "2layer.x.t"), "-o", str(tmp_path / seed)],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            cwd=tmp_path,
        )
        assert files(tmp_path / seed) == files(made)


def test_json_is_the_report(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["gen", str(made.parent / "2layer.x.t"), "-o", str(tmp_path / "out"), "--pes", "4", "--result", "h"]
    assert main([*words, "--json", "-"]) == 0
    report = json.loads(capsys.readouterr().out)
    manifest = json.loads((made / "2layer.x.json").read_text())
    shared = report.keys() & manifest.keys() - {"schema"}
    assert {"cycles", "bound_terms", "utilisation"} <= shared
    assert {name: report[name] for name in shared} == {name: manifest[name] for name in shared}


def test_folders_of_ours_are_replaced_and_others_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, out = tmp_path / "model.t", tmp_path / "out"
    program.write_text("model_input x; y = x * 2;\n")
    assert main(["gen", str(program), "-o", str(out), "--pes", "1"]) == 0
    (out / "stale.txt").write_text("from before")
    assert main(["gen", str(program), "-o", str(out), "--pes", "1"]) == 0
    assert not (out / "stale.txt").exists()
    (tmp_path / "empty").mkdir()
    assert main(["gen", str(program), "-o", str(tmp_path / "empty"), "--pes", "1"]) == 0
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.json").write_text('{"schema": "other"}')
    capsys.readouterr()
    assert main(["gen", str(program), "-o", str(mine), "--pes", "1"]) == 1
    assert capsys.readouterr().err.startswith(f"error: folder '{mine}' is not empty")
    assert files(mine) == {"thesis.json": b'{"schema": "other"}'}
    assert main(["gen", str(program), "-o", str(program), "--pes", "1"]) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty", "mine", "model.t", "out"]


def test_a_failure_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with pytest.raises(RuntimeError), replaced_folder(out) as fresh:
        (fresh / "half.v").write_text("module")
        raise RuntimeError
    assert files(tmp_path) == {}
    assert list((tmp_path / "deep").iterdir()) == []


def test_the_current_folder_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.t").write_text("model_input x; y = x * 2;\n")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert main(["gen", "../model.t", "-o", ".", "--pes", "1"]) == 1
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_the_bench_runs_as_it_is(made: Path, simulator: str, tmp_path: Path) -> None:
    from tabla.host.engines.cocotb_run import available

    if not available(simulator):
        pytest.skip(f"needs cocotb and {simulator}")
    run = [sys.executable, str(made / "tb/run.py"), simulator]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("1 test, 0 failed\n")


def test_the_bench_sees_a_wrong_word(made: Path, tmp_path: Path) -> None:
    from tabla.host.engines.cocotb_run import available

    if not available("icarus"):
        pytest.skip("needs cocotb and Icarus Verilog")
    for name, content in files(made).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    golden = json.loads((tmp_path / "tb/golden.json").read_text())
    words = bytearray((tmp_path / "tb/golden.bin").read_bytes())
    words[golden["dump"]["words"][0]] ^= 1
    (tmp_path / "tb/golden.bin").write_bytes(words)
    done = subprocess.run([sys.executable, "tb/run.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert re.search(r"word \d+ of the dump", done.stdout)

"""``tabla gen --onto``: a folder with the image that ``tabla load`` writes, and what hosts need of the program."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.commands.cli import main
from tabla.host.runtime import connect
from tabla.program.overlay import overlay_of
from tabla.program.overlay_file import overlay_record
from tabla.templates.overlays import default_room
from tabla.templates.template import presets

EXAMPLES = Path(tabla.__file__).resolve().parent.parent / "examples"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an overlay, a program's folder for it, and its image."""
    work = tmp_path_factory.mktemp("onto")
    (work / "overlay").mkdir()
    room = replace(default_room(), model_words=16, data_words=32, functions=())
    (work / "overlay" / "overlay.json").write_text(json.dumps(overlay_record(overlay_of(presets()["Pe2"], room))))
    options = [str(EXAMPLES / "linear.t"), "--onto", str(work / "overlay"), "-D", "m=3", "-q"]
    assert main(["gen", *options, "-o", str(work / "linear")]) == 0
    assert main(["load", *options, "-o", str(work / "linear.image")]) == 0
    return work


def test_the_image_is_that_of_load(work: Path) -> None:
    assert (work / "linear" / "linear.image").read_bytes() == (work / "linear.image").read_bytes()
    names = {path.name for path in (work / "linear").iterdir()}
    assert {"linear.json", "linear.layout.npz", "linear.schedule.json", "linear.graph.svg", "program"} <= names
    assert "linear.v" not in names and "tb" not in names
    found = json.loads((work / "linear" / "linear.json").read_text())
    overlay = json.loads((work / "overlay" / "overlay.json").read_text())
    assert found["overlay"]["fingerprint"] == overlay["fingerprint"] and found["module"] == "overlay"
    assert "ports" not in found and found["cycles"] > 0


def test_the_model_runs_the_folder(work: Path) -> None:
    made = tabla.compile(EXAMPLES / "linear.t", onto=work / "overlay", defines={"m": 3})
    inputs = {"x": np.array([[0.5, -1.0, 0.25], [1.0, 0.5, -0.5]]), "y": np.array([1.0, 0.0])}
    with connect(work / "linear", "model") as accelerator:
        accelerator.load(w=np.zeros(3), b=0.0)
        accelerator.run(inputs)
        models = accelerator.models()
    for name, array in made.evaluate({**inputs, "w": np.zeros(3), "b": 0.0}).items():
        np.testing.assert_array_equal(models[name], array)


@pytest.mark.parametrize("device", ["icarus", "mmio:registers=/dev/uio0,dma=/dev/mem@0x40400000,buffer=udmabuf0"])
def test_there_is_no_hardware_in_the_folder(work: Path, device: str) -> None:
    with pytest.raises(tabla.TablaError, match="is a program for an overlay, and has no hardware") as fault:
        connect(work / "linear", device)
    assert "linear.image" in (fault.value.hint or "")


def test_synth_takes_the_folder_of_the_overlay(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", str(work / "linear"), "--target", "ecp5", "-q"]) == 1
    assert "is a program for an overlay" in capsys.readouterr().err


def test_every_command_takes_an_overlay(work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The words and the cycles are those of hardware of its own in the same array."""
    chance = np.random.default_rng(3)
    x = chance.uniform(-1, 1, (24, 3))
    np.savez(tmp_path / "data.npz", x=x, y=x @ [0.5, -0.25, 0.125])
    np.savez(tmp_path / "models.npz", w=np.zeros(3), b=0.0)
    found: dict[str, list[object]] = {}
    for name, where in (("onto", ["--onto", str(work / "overlay")]), ("own", ["--pes", "2"])):
        program = [str(EXAMPLES / "linear.t"), "-D", "m=3", *where, "-q"]
        arrays = {command: tmp_path / f"{command}-{name}.npz" for command in ("eval", "sim", "train")}
        inputs = ["--inputs", str(tmp_path / "data.npz"), "--seed", "0"]
        data = ["--data", str(tmp_path / "data.npz"), "--engine", "model"]
        assert main(["eval", *program, *inputs, "-o", str(arrays["eval"])]) == 0
        capsys.readouterr()
        assert main(["sim", *program, *inputs, "--engine", "model", "-o", str(arrays["sim"]), "--json", "-"]) == 0
        cycles = json.loads(capsys.readouterr().out)["cycles"]
        assert cycles["predicted"] == cycles["simulated"]
        assert main(["train", *program, *data, "--epochs", "2", "--seed", "0", "-o", str(arrays["train"])]) == 0
        capsys.readouterr()
        assert main(["test", *program, *data, "--weights", str(tmp_path / "models.npz"), "--json", "-"]) == 0
        scored = json.loads(capsys.readouterr().out)
        words = [{key: array.tolist() for key, array in np.load(path).items()} for path in arrays.values()]
        found[name] = [cycles, *words, scored["accelerator"], scored["cycles"]]
    assert found["onto"] == found["own"]

"""What is refused before anything is sent: folders that are not whole, and arrays that do not fit."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.base.source import TablaError, TablaTypeError, TablaValueError
from tabla.host.runtime import connect, mmio
from tests.host.runtime.boards import board_of
from tests.host.runtime.made import LINEAR, Made, hold
from tests.host.runtime.wrapper_model import WrapperModel

Cases = Callable[[str], Made]


def copied(case: Made, home: Path) -> Path:
    return Path(shutil.copytree(case.folder, home / "copy"))


def changed(folder: Path, **entries: Any) -> None:
    path = folder / "line.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


def test_folders_that_are_none(tmp_path: Path, case: Cases) -> None:
    with pytest.raises(TablaError, match="there is no folder"):
        connect(tmp_path / "none", "model")
    with pytest.raises(TablaError, match="has no manifests of tabla gen"):
        connect(tmp_path, "model")
    (tmp_path / "line.json").write_text(json.dumps({"schema": "tabla-board-1"}))
    with pytest.raises(TablaError, match="a folder of tabla build, which has no layout") as fault:
        connect(tmp_path, "model")
    assert "tabla gen" in (fault.value.hint or "")


@pytest.mark.parametrize(
    ("file", "engine"), [("line.layout.npz", "model"), ("program/image.json", "model"), ("line.v", "cxxrtl")]
)
def test_files_that_are_missing_or_damaged(file: str, engine: str, tmp_path: Path, case: Cases) -> None:
    folder = copied(case("wide"), tmp_path)
    path = folder / file
    if path.suffix != ".v":
        path.write_bytes(path.read_bytes()[:100])
        with pytest.raises(TablaError, match="is damaged") as fault:
            connect(folder, engine)
        assert fault.value.hint == "run tabla gen again"
    path.unlink()
    with pytest.raises(TablaError, match=r"is missing|cannot read") as fault:
        connect(folder, engine)
    assert fault.value.hint == "run tabla gen again"


def without(*keys: str) -> Callable[[Any], None]:
    """A change of a manifest: the entry at these keys is removed."""

    def change(manifest: Any) -> None:
        for key in keys[:-1]:
            manifest = manifest[key]
        del manifest[keys[-1]]

    return change


@pytest.mark.parametrize(
    "change",
    [
        *(without(key) for key in ("name", "module", "tensors", "stream", "stream_words", "minibatch", "integer_bits")),
        *(without("bus", key) for key in ("width", "container", "bytes", "registers", "fingerprint")),
        without("stream", "dump", "count"),
        lambda m: m.update(tensors=[1]),
        lambda m: m.update(tensors=[{"name": "w", "role": "model", "shape": 3}]),
        lambda m: m["tensors"][0].update(shape=[-1]),
        lambda m: m.update(minibatch=float("inf")),
        lambda m: m.update(minibatch=0),
        lambda m: m.update(fraction_bits="12"),
        lambda m: m.update(integer_bits=99),
        lambda m: m.update(name=["line"]),
        lambda m: m.update(name="9" * 300),
        lambda m: m.update(bus=[]),
        lambda m: m["bus"]["registers"][0].pop("offset"),
        lambda m: m["bus"].update(container=0),
    ],
)
def test_manifests_that_are_damaged(change: Callable[[Any], Any], tmp_path: Path, case: Cases) -> None:
    folder = copied(case("wide"), tmp_path)
    manifest = json.loads((folder / "line.json").read_text())
    change(manifest)
    (folder / "line.json").write_text(json.dumps(manifest))
    with pytest.raises(TablaError, match=r"the manifest of .* is damaged") as fault:
        connect(folder, "model")
    assert fault.value.hint == "run tabla gen again"


def test_json_without_an_end_and_text_of_other_bytes(tmp_path: Path, case: Cases) -> None:
    folder = copied(case("wide"), tmp_path)
    image = json.loads((folder / "program/image.json").read_text())
    for text in ("[" * 100_000, json.dumps({**image, "parameters": 1}), json.dumps({**image, "run": []}), "1e999"):
        (folder / "program/image.json").write_text(text)
        with pytest.raises(TablaError, match=r"image.json' is damaged"):
            connect(folder, "model")
    shutil.copy(case("wide").folder / "program/image.json", folder / "program/image.json")
    (folder / "line.v").write_bytes(b"\xff\xfe")
    with pytest.raises(TablaError, match=r"line.v' is damaged"):
        connect(folder, "cxxrtl")
    (folder / "line.json").write_text("[" * 100_000)
    with pytest.raises(TablaError, match="has no manifests of tabla gen"):
        connect(folder, "model")


def test_layouts_of_other_bytes(tmp_path: Path, case: Cases) -> None:
    """Bytes anywhere in the archive are changed: it is told, or the change is one that zip files do not notice."""
    folder, chance = copied(case("wide"), tmp_path), np.random.default_rng(5)
    path = folder / "line.layout.npz"
    sound = path.read_bytes()
    told = 0
    for _ in range(300):
        data = bytearray(sound)
        data[chance.integers(len(data))] ^= 1 << chance.integers(8)
        path.write_bytes(data)
        try:
            connect(folder, "model").close()
        except TablaError as fault:
            told += bool(fault.hint)
    assert told > 150
    arrays = dict(np.load(case("wide").folder / "line.layout.npz"))
    for name, array in (("load/w", arrays["load/w"] + 1000), ("load.template", arrays["load.template"] * 1.0)):
        np.savez(path, **{**arrays, name: array})
        with pytest.raises(TablaError, match="is damaged: it has places outside its units"):
            connect(folder, "model")


def test_files_of_different_builds(tmp_path: Path, case: Cases) -> None:
    folder = copied(case("wide"), tmp_path)
    shutil.copy(case("narrow").folder / "program/image.json", folder / "program/image.json")
    with pytest.raises(TablaError, match=r"image.json' and the manifest are of different builds"):
        connect(folder, "model")
    shutil.copy(case("batch").folder / "line.layout.npz", folder / "line.layout.npz")
    with pytest.raises(TablaError, match=r"the layout of .* is of another build"):
        connect(folder, "model")


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("other", ["format", "weights"])
def test_files_of_different_builds_without_a_bus(other: str, older: bool, tmp_path: Path) -> None:
    """Two programs of one name, with tensors of the same shapes: every file that is taken from the other is told.

    Manifests of older releases have neither fingerprint nor sums, so only the format can tell.
    """
    program = tmp_path / "line.t"
    faster = LINEAR.replace("mu = 0.25", "mu = 0.5")
    programs = {"own": (LINEAR, "q4.12"), "format": (LINEAR, "q6.10"), "weights": (faster, "q4.12")}
    for name in ("own", other):
        program.write_text(programs[name][0], encoding="utf-8")
        tabla.compile(program, pes=2, effort=0, format=programs[name][1]).write(tmp_path / name)
    manifest = json.loads((tmp_path / "own/line.json").read_text())
    assert "bus" not in manifest and manifest["fingerprint"] > 0
    for file, engine in (("program/image.json", "model"), ("line.v", "cxxrtl"), ("line.layout.npz", "model")):
        folder = Path(shutil.copytree(tmp_path / "own", tmp_path / file.replace("/", "-")))
        if older:
            changed(folder, fingerprint=None, sha256={})
        same = (tmp_path / other / file).read_bytes() == (folder / file).read_bytes()
        shutil.copy(tmp_path / other / file, folder / file)
        if same or (older and (engine != "model" or other == "weights" or file == "line.layout.npz")):
            continue
        with pytest.raises(TablaError, match="and the manifest are of different builds") as fault:
            opened = connect(folder, engine)
            opened.close()
        assert fault.value.hint == "run tabla gen again"


def test_the_sums_are_those_of_the_files(case: Cases) -> None:
    folder = case("wide").folder
    manifest = json.loads((folder / "line.json").read_text())
    assert manifest["fingerprint"] == manifest["bus"]["fingerprint"]
    assert set(manifest["sha256"]) == {"line.v", "line.layout.npz"}
    for file, told in manifest["sha256"].items():
        assert hashlib.sha256((folder / file).read_bytes()).hexdigest() == told


def test_a_layout_of_the_same_sizes(tmp_path: Path, case: Cases) -> None:
    folder = copied(case("wide"), tmp_path)
    arrays = dict(np.load(folder / "line.layout.npz"))
    np.savez(folder / "line.layout.npz", **{**arrays, "load/w": arrays["load/w"][..., ::-1]})
    with pytest.raises(TablaError, match=r"line.layout.npz' and the manifest are of different builds"):
        connect(folder, "model")


def test_a_folder_without_a_bus(tmp_path: Path, case: Cases) -> None:
    folder = copied(case("wide"), tmp_path)
    manifest = json.loads((folder / "line.json").read_text())
    del manifest["bus"]
    (folder / "line.json").write_text(json.dumps(manifest))
    with connect(folder, "model") as accelerator:
        hold(accelerator, case("wide"))
    with pytest.raises(TablaError, match="has no wrapper for a host's bus") as fault:
        connect(folder, "mmio:registers=/dev/uio0,dma=/dev/uio1,buffer=udmabuf0")
    assert "--bus axi" in (fault.value.hint or "")


def test_devices_that_there_are_not(case: Cases) -> None:
    folder = case("wide").folder
    with pytest.raises(TablaValueError, match="unknown device 'warp'"):
        connect(folder, "warp")
    for timeout in (0, -1, float("nan"), float("inf"), 1e10):
        with pytest.raises(TablaValueError, match="timeout"):
            connect(folder, "model", timeout=timeout)
    with pytest.raises(TablaError, match="memory of /dev/mem is no buffer") as fault:
        connect(folder, "mmio:registers=/dev/uio0,dma=/dev/uio1,buffer=/dev/mem@0x10000000")
    assert "u-dma-buf" in (fault.value.hint or "")
    with pytest.raises(TablaError, match=r"cannot open|No such"):
        connect(folder, "serial:/dev/none")


def test_mmio_opens_what_it_names(case: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    place, _ = board_of(case("wide"), length_bits=16)
    opened: dict[str, Any] = {"/dev/uio0": place.registers, "/dev/mem@0x40400000": place.dma}
    monkeypatch.setattr(mmio, "MappedRegisters", lambda name, size: opened.pop(name))
    monkeypatch.setattr(mmio, "UDmaBuf", lambda name: {"udmabuf1": place.buffer}[name])
    text = "mmio:registers=/dev/uio0,dma=/dev/mem@0x40400000,buffer=udmabuf1,length-bits=16"
    with connect(case("wide").folder, text) as accelerator:
        hold(accelerator, case("wide"))
    assert not opened


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda a: a.load(w=[0, 0]), "the model 'b' is missing"),
        (lambda a: a.load(w=[0, 0], b=0, c=1), "the program has no model 'c'"),
        (lambda a: a.load(w=[0, 0, 0], b=0), r"model 'w' has shape \(3,\), not \(2,\)"),
        (lambda a: a.load(w=[0, 40], b=0), "'w' holds 40, outside the range of q6.12"),
        (lambda a: a.load(w=["a", "b"], b=0), "not real numbers"),
        (lambda a: a.run(x=[[0, 0]]), "the input 'y' is missing"),
        (lambda a: a.run(x=[[0, 0]], y=[0], z=[0]), "the program has no input 'z'"),
        (lambda a: a.run(x=[[0, 0, 0]], y=[0]), r"'x' has shape \(1, 3\), not \(samples, 2\)"),
        (lambda a: a.run(x=[[0, 0]], y=0), r"'y' has shape \(\), not \(samples\)"),
        (lambda a: a.run(x=[[0, 0]], y=[0, 0]), "different numbers of samples: 'x' 1, 'y' 2"),
        (lambda a: a.run(x=[[0, 0], [0, 33]], y=[0, 0]), "input 'x' holds 33 in sample 2"),
        (lambda a: a.run(x=[[0, float("nan")]], y=[0]), "not finite"),
        (lambda a: a.run(5), "5 is no number of steps of this program"),
    ],
)
def test_arrays_that_do_not_fit(call: Callable[[Any], Any], said: str, case: Cases) -> None:
    """Each is refused before the device hears of it."""
    place, dma = board_of(case("wide"))
    with connect(case("wide").folder, place) as accelerator:
        accelerator.load(w=[0, 0], b=0)
        assert isinstance(place.registers, WrapperModel)
        before = list(place.registers.log), list(dma.lengths)
        with pytest.raises(TablaError, match=said):
            call(accelerator)
        assert (place.registers.log, dma.lengths) == before
        accelerator.run(x=[[0, 0]], y=[0])


def test_samples_fill_minibatches_and_integers_are_whole(case: Cases) -> None:
    with connect(case("batch").folder, "model") as accelerator:
        with pytest.raises(TablaError, match="no models have been loaded"):
            accelerator.run({name: array[:4] for name, array in case("batch").samples.items()})
        with pytest.raises(TablaError, match="no models have been loaded"):
            accelerator.models()
        with pytest.raises(TablaError, match="3 samples do not fill minibatches of 4"):
            accelerator.run({name: array[:3] for name, array in case("batch").samples.items()})
    one = {"a": np.zeros(3), "b": np.zeros(3)}
    with connect(case("kernel").folder, "model") as accelerator:
        assert accelerator.models() == {}
        with pytest.raises(TablaError, match="'k' is a tensor of integers"):
            accelerator.run(**one, k=0.5)
        with pytest.raises(TablaError, match="'k' holds 40000, outside the integers"):
            accelerator.run(**one, k=40000)
        assert accelerator.run({name: array[:0] for name, array in case("kernel").samples.items()})["c"].shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda a: a.load([1, 2]), "load takes arrays by their names, not one object of type list"),
        (lambda a: a.load(np.zeros(2)), "load takes arrays by their names, not one object of type ndarray"),
        (lambda a: a.load(w=[[0], [0, 1]], b=0), "'w' is no array of numbers"),
        (lambda a: a.run(np.zeros((3, 2))), "run takes arrays by their names, not one object of type ndarray"),
        (lambda a: a.run("x"), "run takes arrays by their names, not one object of type str"),
        (lambda a: a.run([]), "run takes arrays by their names, not one object of type list"),
        (lambda a: a.run(2.5), "run takes arrays by their names, not one object of type float"),
        (lambda a: a.run(np.int64(3)), "3 is no number of steps of this program"),
        (lambda a: a.run(x=[[0, 0], [0]], y=[0, 0]), "'x' is no array of numbers"),
        (lambda a: a.run(x=[[0, None]], y=[0]), "'x' holds object values"),
        (lambda a: a.stream({"x": [[0, 0]], "y": [0]}), "stream takes blocks of samples, not one object of type dict"),
        (lambda a: a.stream(5), "stream takes blocks of samples, not one object of type int"),
        (lambda a: list(a.stream([[0, 0]])), "run takes arrays by their names"),
    ],
)
def test_arguments_of_another_kind(call: Callable[[Any], Any], said: str, case: Cases) -> None:
    with connect(case("wide").folder, "model") as accelerator:
        accelerator.load(w=[0, 0], b=0)
        with pytest.raises(TablaError, match=said) as fault:
            call(accelerator)
        assert fault.value.hint


@pytest.mark.parametrize(
    ("device", "timeout", "said"),
    [
        (None, None, "an object of type NoneType is no device"),
        (3, None, "an object of type int is no device"),
        (Path("model"), None, "is no device"),
        ("model", "5", "a timeout is a number of seconds, not '5'"),
        ("model", True, "a timeout is a number of seconds, not True"),
        ("model", [1], "a timeout is a number of seconds"),
    ],
)
def test_devices_and_timeouts_of_another_kind(device: Any, timeout: Any, said: str, case: Cases) -> None:
    with pytest.raises(TablaTypeError, match=said) as fault:
        connect(case("wide").folder, device, timeout=timeout)
    assert fault.value.hint
    with pytest.raises(TablaTypeError, match="names no folder"):
        connect(None, "model")  # type: ignore[arg-type]
    for seconds in (np.float32(2), np.int64(2), 1e6):
        connect(case("wide").folder, "model", timeout=seconds).close()  # type: ignore[arg-type]


def test_a_unit_that_no_packet_holds(case: Cases) -> None:
    place, _ = board_of(case("backprop"), length_bits=8)
    with pytest.raises(TablaError, match=r"a load of .* bytes, but the DMA takes packets of 255") as fault:
        connect(case("backprop").folder, place)
    assert "26 bits" in (fault.value.hint or "")


def test_a_host_on_a_board_needs_numpy_alone() -> None:
    """Neither the compiler nor the hardware library has to be installed where ``mmio:`` is used."""
    lines = (
        "import sys",
        "import tabla.host.runtime",
        "heavy = {'amaranth', 'networkx', 'jinja2', 'ply', 'serial'} & set(sys.modules)",
        "assert not heavy, heavy",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)

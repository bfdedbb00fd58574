"""Waiting for the interrupt of a UIO device, which a pair of sockets plays, in place of asking the registers."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabla.host.runtime import Board, DeviceFault, connect
from tabla.host.runtime.axi import AxiTransport
from tabla.host.runtime.interrupt import UioInterrupt
from tests.host.runtime.boards import board_of
from tests.host.runtime.made import Made, hold
from tests.host.runtime.wrapper_model import DONE, LOADED, WrapperModel

Cases = Callable[[str], Made]


class Uio(UioInterrupt):
    """The interrupt of the model of a wrapper. While the host waits, the models go on."""

    def __init__(self, wrapper: WrapperModel) -> None:
        ours, self.kernel = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.kernel.setblocking(False)
        super().__init__(ours.detach())
        self.wrapper = wrapper
        self.unmasked = self.broken = False
        self.events = self.waits = self.misses = 0

    def serve(self) -> None:
        """What the kernel does: it takes masks, and masks the line when it has told of an interrupt."""
        while True:
            try:
                self.unmasked = self.kernel.recv(4) == b"\1\0\0\0"
            except BlockingIOError:
                break
        if self.unmasked and self.wrapper.interrupt and not self.broken:
            self.unmasked, self.events = False, self.events + 1
            self.kernel.send(self.events.to_bytes(4, "little"))

    def wait(self, seconds: float) -> bool:
        if seconds:
            self.waits += 1
            for _ in range(40):
                self.wrapper.moment()
                self.wrapper.step()
                self.serve()
        came = super().wait(0 if seconds else seconds)
        self.misses += bool(seconds) and not came
        return came


@contextmanager
def interrupted(made: Made) -> Iterator[tuple[Board, WrapperModel, Uio]]:
    place, _ = board_of(made)
    wrapper = place.registers
    assert isinstance(wrapper, WrapperModel)
    uio = Uio(wrapper)
    try:
        yield replace(place, interrupt=uio), wrapper, uio
        with pytest.raises(OSError):
            os.fstat(uio._file)  # the transport has closed it
    finally:
        uio.kernel.close()


@pytest.mark.parametrize("name", ["batch", "wide", "kernel"])
def test_the_host_waits_for_the_interrupt(name: str, case: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every word is right, every command waits once, and STATUS is read a few times a command."""
    made = case(name)
    with interrupted(made) as (place, wrapper, uio):
        wrapper.work = 30  # a command that ends at the first look needs no interrupt
        reads: list[str] = []
        plain = wrapper.read

        def counted(offset: int) -> int:
            reads.append(wrapper.names[offset])
            return plain(offset)

        monkeypatch.setattr(wrapper, "read", counted)
        with connect(made.folder, place) as accelerator:
            hold(accelerator, made)
            commands = len(wrapper.log)
            assert commands >= 3 and uio.waits == uio.events == commands and not uio.misses
            assert reads.count("STATUS") <= 5 * commands
        assert wrapper.values["CONTROL"] == 0


def test_without_the_interrupt_of_the_device_the_registers_are_looked_at(case: Cases) -> None:
    """A line that was never connected makes a host slow, and nothing else."""
    made = case("wide")
    with interrupted(made) as (place, wrapper, uio):
        wrapper.work, uio.broken = 30, True
        with connect(made.folder, place) as accelerator:
            hold(accelerator, made)
            assert uio.misses == uio.waits > 0 and not uio.events


def test_an_interrupt_that_nobody_took_is_forgotten(case: Cases) -> None:
    made = case("wide")
    with interrupted(made) as (place, wrapper, uio):
        wrapper.work = 30
        with connect(made.folder, place) as accelerator:
            uio.kernel.send(b"\7\0\0\0")
            hold(accelerator, made)
            assert uio.waits == uio.events and not uio.misses


def test_errors_and_time_outs_behind_an_interrupt(case: Cases) -> None:
    made = case("wide")
    with interrupted(made) as (place, wrapper, uio), connect(made.folder, place, timeout=0.3) as accelerator:
        hold(accelerator, made)
        wrapper.values["STATUS"] &= ~LOADED
        with pytest.raises(DeviceFault, match="RUN ended with NOT_LOADED"):
            accelerator.run(made.samples)
        hold(accelerator, made)
        wrapper.deaf = True
        with pytest.raises(DeviceFault, match="RUN has made no progress"):
            accelerator.run(made.samples)
        wrapper.deaf = False
        hold(accelerator, made)
        uio.kernel.close()  # the device disappears
        wrapper.work = 30
        with pytest.raises(DeviceFault, match="RUN failed"):
            accelerator.run(made.samples)


def test_what_has_no_interrupt(tmp_path: Path) -> None:
    plain = tmp_path / "uio0"
    plain.write_bytes(bytes(8))
    assert UioInterrupt.of(plain) is None and plain.read_bytes() == bytes(8)
    assert UioInterrupt.of(tmp_path / "none") is None
    found = UioInterrupt.of("/dev/null")
    assert found is not None
    with pytest.raises(OSError, match="cannot be read"):
        found.wait(0)
    found.close()


@pytest.mark.parametrize("where", ["_words", "_refuse_garbage", "SAMPLES", "_acknowledged"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, OSError])
def test_an_interrupt_while_a_finished_command_is_looked_at(
    where: str, kind: type[BaseException], case: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command has ended, perhaps with an error that left a packet in the DMA. The next run works."""
    made = case("wide")
    place, dma = board_of(made)
    wrapper = place.registers
    assert isinstance(wrapper, WrapperModel)
    with connect(made.folder, place) as accelerator:
        accelerator.load(made.models)
        calls: list[str] = []

        def once(name: str) -> None:
            if not calls:
                calls.append(name)
                raise kind("pressed")

        if where == "SAMPLES":
            read = wrapper.read

            def reading(offset: int) -> int:
                if wrapper.names[offset] == "SAMPLES" and wrapper.values["STATUS"] & DONE and wrapper.command < 0:
                    once(where)
                return read(offset)

            monkeypatch.setattr(wrapper, "read", reading)
        else:
            plain = getattr(AxiTransport, where)

            def failing(self: AxiTransport, *given: Any) -> Any:
                once(where)
                return plain(self, *given)

            monkeypatch.setattr(AxiTransport, where, failing)
        if where == "_acknowledged":
            wrapper.values["STATUS"] &= ~LOADED  # the command ends at once, and its packet is not taken
        with pytest.raises(DeviceFault if kind is OSError else kind) as fault:
            accelerator.run(made.samples)
        if isinstance(fault.value, DeviceFault):
            assert "RUN failed: pressed" in str(fault.value)
            if where != "_acknowledged":  # nothing that was acknowledged is lost
                np.testing.assert_array_equal(fault.value.results["h"], made.results["h"])
        assert calls and not any(channel.active for channel in dma.channels.values())
        hold(accelerator, made)

"""The host of the wrapper for a host's bus: commands in registers, units in packets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tabla.base.source import TablaError
from tabla.host.runtime.command import DUMP, LOAD, PREDICT, RUN, Command, Course
from tabla.host.runtime.control import Control
from tabla.host.runtime.diagnosis import cure_of_errors, late
from tabla.host.runtime.dma import Streams
from tabla.host.runtime.folder import BuildFolder
from tabla.host.runtime.interrupt import Interrupt
from tabla.host.runtime.transport import Counters, DeviceFault, Words

ERRORS = ("SHORT", "LONG", "KEEP", "RANGE", "COUNT_ZERO", "NOT_LOADED")
_NO_PACKET = ("COUNT_ZERO", "NOT_LOADED")
"""The errors that end a command at once: it takes no packet and sends none."""
_MOST_UNITS = 1 << 20
_SPINS, _PAUSE = 100, 0.0002
_LOOK = 0.05
"""Seconds after which the registers are looked at though no interrupt has come: a DMA that has stopped sends none."""


def check_interface(control: Control) -> None:
    """Raise `DeviceFault` if no accelerator answers, and `TablaError` for one that speaks another interface."""
    found = control.read("ID")
    if found != control.expected("ID"):
        raise DeviceFault(f"no accelerator answers: ID is 0x{found:08X}", hint=_IS_IT_THERE)
    version = control.read("VERSION")
    if version >> 16 != control.expected("VERSION") >> 16:
        raise TablaError(
            f"the accelerator speaks version {version >> 16} of the interface, and the folder"
            f" {control.expected('VERSION') >> 16}",
            hint="build the bitstream from the files of this folder",
        )


class AxiTransport:
    """A wrapper behind registers and a pair of streams, which `docs/host-bus.md` describes.

    A RUN or a PREDICT takes as many units as the streams can carry in one packet each way. `seconds` is the time
    without progress after which a command has failed. With an `interrupt` the transport waits for it, and looks at
    the registers only now and then. Raises `DeviceFault` for a device that does not answer, and `TablaError` for
    one with another program, and for streams that cannot carry a unit.
    """

    def __init__(
        self,
        folder: BuildFolder,
        control: Control,
        streams: Streams,
        seconds: float,
        interrupt: Interrupt | None = None,
    ) -> None:
        self._folder, self._control, self._streams, self._seconds = folder, control, streams, seconds
        self._interrupt = interrupt
        self._type = np.dtype(f"<i{folder.bus['container'] // 8}")
        self._bytes = {kind: len(folder.template(kind)) * self._type.itemsize for kind in _KINDS}
        self._dead: str | None = None
        self._run_counters = Counters()
        self._check_sizes()
        self._greet()

    @property
    def loaded(self) -> bool:
        """Whether the device has models from a LOAD, perhaps of another host."""
        return "LOADED" in self._control.names("STATUS", self._control.read("STATUS"))

    def _check_sizes(self) -> None:
        """Refuse streams that cannot carry a unit of each kind in one packet."""
        streams = self._streams
        for kind, size in self._bytes.items():
            most = streams.most_sent if kind in ("load", "sample") else streams.most_received
            if size > most:
                raise TablaError(
                    f"a {kind} of '{self._folder.name}' has {size} bytes, but the DMA takes packets of {most} at most",
                    hint="build the DMA with a wider length register (26 bits), or allocate a larger buffer",
                )

    def _greet(self) -> None:
        control = self._control
        check_interface(control)
        found, own = control.read("FINGERPRINT"), self._folder.bus["fingerprint"]
        if found != own:
            raise TablaError(
                f"the accelerator holds another program: its fingerprint is 0x{found:08X}, and that of"
                f" '{self._folder.path}' is 0x{own:08X}",
                hint="name the folder that the bitstream was built from, or load the bitstream of this folder",
            )
        if self._status() & control.mask("STATUS", "BUSY") and not self._reset():
            raise DeviceFault(f"the accelerator stays busy; {control.said()}", hint=_IS_IT_THERE)

    def load(self, unit: Words) -> None:
        """Load constants and models."""
        self._execute(Command(code=LOAD, packet=self._packed(unit), answer=0))

    def run(self, units: Words) -> Iterator[Words]:
        """Run steps, a packet at a time."""
        return self._steps(RUN, units)

    def predict(self, units: Words) -> Iterator[Words]:
        """Run steps that keep the models, a packet at a time."""
        return self._steps(PREDICT, units)

    def _steps(self, code: int, units: Words) -> Iterator[Words]:
        """Run steps with the command that has this code."""
        size, total = len(self._folder.template("result")), Counters(samples=0, cycles=0, wait_in=0, wait_out=0)
        each = self._units_of_a_packet()
        for first in range(0, len(units), each):
            part = units[first : first + each]
            command = Command(
                code=code, packet=self._packed(part), answer=len(part) * self._bytes["result"], count=len(part)
            )
            found = self._execute(command)
            total = self._run_counters = self._added(total)
            yield found.reshape(len(part), size)

    def _units_of_a_packet(self) -> int:
        streams, own = self._streams, self._bytes
        sent = streams.most_sent // own["sample"] if own["sample"] else _MOST_UNITS
        received = streams.most_received // own["result"] if own["result"] else _MOST_UNITS
        return min(sent, received, _MOST_UNITS)

    def dump(self) -> Words:
        """Return the words of a dump."""
        return self._execute(Command(code=DUMP, packet=b"", answer=self._bytes["dump"]))

    def _added(self, total: Counters) -> Counters:
        """Return the sums of the counters of a run with those of the command that has just ended."""
        read = self._control.read
        low = read("CYCLES_LO")
        return replace(
            total,
            samples=(total.samples or 0) + read("SAMPLES"),
            cycles=(total.cycles or 0) + (read("CYCLES_HI") << 32 | low),
            wait_in=(total.wait_in or 0) + read("WAIT_IN"),
            wait_out=(total.wait_out or 0) + read("WAIT_OUT"),
        )

    def counters(self) -> Counters:
        """Return the events since the last LOAD, and the cycles of the last run."""
        self._status()
        read = self._control.read
        return replace(
            self._run_counters,
            lane_overflows=read("LANE_OVERFLOWS"),
            root_overflows=read("ROOT_OVERFLOWS"),
            domain_errors=read("DOMAIN_ERRORS"),
        )

    def close(self) -> None:
        """Stop the streams and the interrupt. The accelerator keeps its models."""
        try:
            self._streams.close()
            if self._interrupt is not None:
                self._control.write("CONTROL", 0)
        finally:
            if self._interrupt is not None:
                self._interrupt.close()

    def _packed(self, words: Words) -> bytes:
        return words.astype(self._type).tobytes()

    def _execute(self, command: Command) -> Words:
        """Give a command and wait for its end. Return the words that it sent."""
        if self._dead:
            raise DeviceFault(self._dead, hint="connect again")
        control, streams = self._control, self._streams
        course = Course(sent=not command.packet, answer=None if command.answer else b"")
        try:
            if self._status() & control.mask("STATUS", "BUSY"):
                raise self._fault(
                    f"the accelerator is busy before {command.name}",
                    "is another program using it? if not, connect again",
                )
            control.write("STATUS", control.mask("STATUS", "DONE", *ERRORS))
            if self._interrupt is not None:  # its line is low now
                control.write("CONTROL", control.mask("CONTROL", "IRQ_DONE", "IRQ_ERROR"))
                self._interrupt.arm()
            if command.runs:
                control.write("COUNT", command.count)
                control.write("RESULT_UNITS", 0)
            # What can fail in the host's memory fails before the command.
            if command.packet:
                streams.fill(command.packet)
            if command.answer:
                course.armed = True
                streams.arm(command.answer)
            course.begun = True
            control.write("COMMAND", command.code)
            if command.packet:
                streams.send()
            self._follow(command, course)
            return self._checked(command, course)
        except DeviceFault as fault:
            if not course.ended:
                fault.units = self._recovered(command, course)
            raise
        except OSError as fault:
            units = self._recovered(command, course)
            raise DeviceFault(f"{command.name} failed: {fault}", hint=_SYSTEM, units=units) from None
        except BaseException:
            # An interrupt, or no more memory: neither the command nor a packet of it must stay under way.
            self._recovered(command, course)
            raise

    def _follow(self, command: Command, course: Course) -> None:
        """Wait for the end of a command: for DONE, and for both packets. Note in `course` how far it is."""
        control, streams = self._control, self._streams
        patience, seen, polls = time.monotonic() + self._seconds, (0, 0, False, False), 0
        busy, done = control.mask("STATUS", "BUSY"), control.mask("STATUS", "DONE")
        at_once = control.mask("STATUS", *_NO_PACKET)
        while True:
            course.status = self._status()
            course.sent = course.sent or streams.sent()
            course.answer = streams.received() if course.answer is None else course.answer
            ended = course.status & done and not course.status & busy
            if ended and (course.status & at_once or (course.sent and course.answer is not None)):
                course.ended = True
                return
            polls += 1
            waits = self._interrupt is not None and not ended
            if polls < _SPINS and not waits:
                continue
            now = (course.status, control.read("SAMPLES"), course.sent, course.answer is not None)
            if now != seen:
                patience, seen = time.monotonic() + self._seconds, now
            elif time.monotonic() > patience:
                raise self._late(command, course)
            if self._interrupt is not None and waits:
                self._interrupt.wait(min(_LOOK, self._seconds / 4))
            else:
                time.sleep(_PAUSE)

    def _checked(self, command: Command, course: Course) -> Words:
        """Return the words of a command that has ended. One that ended with an error is a `DeviceFault`."""
        control = self._control
        if errors := course.status & control.mask("STATUS", *ERRORS):
            units = self._acknowledged(command, course.answer)
            self._streams.reset()
            names = control.names("STATUS", errors)
            raise DeviceFault(
                f"{command.name} ended with {' and '.join(control.described('STATUS', errors))}",
                hint=cure_of_errors(names, self._folder.bus["width"]),
                units=units,
            )
        answer = course.answer or b""
        finished = control.read("SAMPLES") if command.runs else command.count
        if len(answer) != command.answer or finished != command.count:
            raise DeviceFault(
                f"{command.name} gave {len(answer)} bytes, not {command.answer}, and {finished} units of"
                f" {command.count}",
                hint="check that the DMA's stream keeps TKEEP and TLAST",
                units=self._acknowledged(command, answer),
            )
        words = self._words(answer)
        self._refuse_garbage(command, words)
        return words

    def _words(self, data: bytes) -> Words:
        return np.frombuffer(data, dtype=self._type).astype(np.int64)

    def _refuse_garbage(self, command: Command, words: Words) -> None:
        number = self._folder.format
        wrong = np.flatnonzero((words < number.lowest) | (words > number.highest))
        if len(wrong):
            raise DeviceFault(
                f"{command.name} gave garbage: container {wrong[0]} holds {words[wrong[0]]}, which is no word of"
                f" {number}",
                hint="check the width and the byte order of the DMA's stream",
            )

    def _acknowledged(self, command: Command, answer: bytes | None) -> Words | None:
        """Return the results of the units that a RUN or a PREDICT has finished; None if there are none."""
        data, size = answer or b"", self._bytes["result"]
        finished = min(self._control.read("SAMPLES"), command.count) if command.runs else 0
        finished = min(finished, len(data) // size) if size else finished
        if not finished:
            return None
        return self._words(data[: finished * size]).reshape(finished, len(self._folder.template("result")))

    def _status(self) -> int:
        """Return the word of STATUS. A word that STATUS cannot have is a `DeviceFault`."""
        status = self._control.read("STATUS")
        if status & ~self._control.mask("STATUS"):
            message = f"the accelerator gives garbage: STATUS is 0x{status:08X}"
            raise self._gone() or DeviceFault(message, hint=_IS_IT_THERE)
        return status

    def _gone(self) -> DeviceFault | None:
        """Return the error of a device that is no accelerator any more, and remember it; None if it still is."""
        found = self._control.read("ID")
        if found == self._control.expected("ID"):
            return None
        self._dead = f"the accelerator has gone: ID is 0x{found:08X}"
        return DeviceFault(self._dead, hint=_IS_IT_THERE)

    def _fault(self, message: str, hint: str) -> DeviceFault:
        return DeviceFault(f"{message}; {self._control.said()}; {self._streams.state()}", hint=hint)

    def _late(self, command: Command, course: Course) -> DeviceFault:
        """Return the error of a command that makes no progress, with its cause as far as the registers tell."""
        gone = self._gone()
        if gone is not None:
            return gone
        control = self._control
        busy, done = (bool(course.status & control.mask("STATUS", name)) for name in ("BUSY", "DONE"))
        cause, hint = late(busy, done, course.sent, course.answer is not None)
        return self._fault(f"{command.name} has made no progress for {self._seconds:g} s: {cause}", hint)

    def _recovered(self, command: Command, course: Course) -> Words | None:
        """Bring the device to rest after a fault, and return the results that it gave. No other fault comes of this.

        One that has gone is left alone, and acknowledges nothing any more. So is one that has not been given the
        command: it may be at work for another host.
        """
        if self._dead is not None:
            return None
        # An interrupt may come here, too, and then nobody knows what the device is at.
        self._dead = interrupted = "the accelerator was left in the middle of a command"
        units = None
        try:
            if course.ended:
                units = self._acknowledged(command, course.answer)
                self._streams.reset()
            elif course.begun:
                units = self._at_rest(command, course)
            elif course.armed:
                self._streams.reset()
        except (TablaError, OSError) as fault:
            self._dead = f"the accelerator could not be brought to rest: {getattr(fault, 'message', fault)}"
        if self._dead is interrupted:
            self._dead = None
        return units

    def _at_rest(self, command: Command, course: Course) -> Words | None:
        """End the command, and return the results that the device gave.

        ABORT ends a RUN between two units and keeps the models. A device that ignores it is reset, which loses them.
        """
        control, answer = self._control, course.answer
        control.write("CONTROL", control.mask("CONTROL", "ABORT"))
        end = time.monotonic() + self._seconds / 4
        owed, busy = answer is None, True
        while time.monotonic() < end and (busy or owed):
            busy = bool(control.read("STATUS") & control.mask("STATUS", "BUSY"))
            try:
                answer = self._streams.received() if owed else answer
                owed = owed and answer is None
            except (DeviceFault, OSError):
                # The packet is lost. Its rest still has to be taken, so that the command can end.
                self._streams.reset()
                self._streams.arm(self._streams.most_received)
                owed = False
            time.sleep(_PAUSE)
        # A device that has not taken the command still has the counter of the RUN before.
        taken = course.status & control.mask("STATUS", "BUSY", "DONE")
        units = self._acknowledged(command, answer) if taken else None
        if busy:
            self._reset()
        elif self._gone() is None:
            self._streams.reset()
        return units

    def _reset(self) -> bool:
        """Reset streams and accelerator. Return whether it came to rest; else it counts as gone.

        RESET swallows the packet that is under way to its TLAST. After the reset of a DMA inside a packet TLAST does
        not come, and ABORT ends the swallowing.
        """
        control, streams, busy = self._control, self._streams, True
        try:
            streams.reset()
            # The accelerator ends a packet that it has begun, and somebody has to take its end.
            streams.arm(streams.most_received)
            for way in ("RESET", "ABORT"):
                if busy:
                    control.write("CONTROL", control.mask("CONTROL", way))
                    busy = self._stays_busy()
            streams.reset()
        except (DeviceFault, OSError) as fault:
            self._dead = f"the accelerator could not be reset: {getattr(fault, 'message', fault)}"
            return False
        if busy and self._gone() is None:
            self._dead = "the accelerator did not come to rest after a reset"
        return not busy

    def _stays_busy(self) -> bool:
        """Wait until BUSY is 0. Return whether it never was."""
        end = time.monotonic() + self._seconds / 4
        while (busy := self._status_bit("BUSY")) and time.monotonic() < end:
            time.sleep(_PAUSE)
        return busy

    def _status_bit(self, name: str) -> bool:
        return bool(self._control.read("STATUS") & self._control.mask("STATUS", name))


_KINDS = ("load", "sample", "result", "dump")
_IS_IT_THERE = "is its bitstream loaded, its clock running, its reset released, and the address that of its registers?"
_SYSTEM = "is the kernel module of the DMA's buffer loaded, and may this user write its attributes?"

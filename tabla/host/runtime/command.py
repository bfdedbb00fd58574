"""A command to the wrapper for a host's bus, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass

LOAD, RUN, DUMP, PREDICT = 0, 1, 2, 5
_NAMES = {LOAD: "LOAD", RUN: "RUN", DUMP: "DUMP", PREDICT: "PREDICT"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command: its code, the packet to send, the bytes of the packet that comes back, and the units of a RUN or
    a PREDICT.
    """

    code: int
    packet: bytes
    answer: int
    count: int = 0

    @property
    def name(self) -> str:
        """The name of the command in the documentation."""
        return _NAMES[self.code]

    @property
    def runs(self) -> bool:
        """Whether the command takes units of samples."""
        return self.code in (RUN, PREDICT)


@dataclass(slots=True, kw_only=True)
class Course:
    """How far a command is.

    `armed` says whether the streams wait for the answer, and `begun` whether COMMAND has been written. `status` is the
    last word of STATUS since then. `sent` says whether the packet has left, and `answer` is the packet that came back.
    `ended` says that the device is at rest again, though perhaps with an error.
    """

    armed: bool = False
    begun: bool = False
    ended: bool = False
    status: int = 0
    sent: bool
    answer: bytes | None

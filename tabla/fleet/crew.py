"""Who the devices of a fleet are: simulated ones of this machine, workers of a Dask cluster, or boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabla.link.machine import PREFIX, place_of
from tabla.parameters import checked_text, checked_whole
from tabla.source import TablaError, TablaTypeError

_EXAMPLE = f"give a number, or boards such as {PREFIX}/dev/ttyUSB0,{PREFIX}/dev/ttyUSB1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """So many `devices`, each on a board of `boards`, or simulated.

    Simulated devices are played by the workers of the Dask scheduler at the address `scheduler`, or else by one
    machine of this process, which takes one share after the other.
    """

    devices: int
    boards: tuple[str, ...] = ()
    scheduler: str | None = None

    @property
    def away(self) -> bool:
        """Whether the devices are not in this process, so that they take all steps."""
        return bool(self.boards or self.scheduler)

    def text(self, engine: str) -> str:
        """Return who learns, for reports."""
        if self.boards:
            return f"boards {', '.join(self.boards)}"
        return f"engine {engine}" + (" on the workers of a cluster" if self.scheduler else "")


def crew_of(devices: int | Sequence[str] | None, scheduler: str | None, engine: str | None) -> Crew | None:
    """Return who the devices are; None for a single one of this process, which is no fleet.

    `devices` is their number, or the names of their boards. Raises `TablaError` for anything else, for boards with
    another `engine` or a `scheduler`, and for a scheduler without devices.
    """
    if scheduler is not None:
        checked_text("scheduler", scheduler, "tcp://host:8786")
    if devices is None:
        if scheduler is not None:
            raise TablaError("--scheduler names a cluster that plays devices", hint="add --devices N")
        return None
    if isinstance(devices, str):
        text = f"devices: '{devices}' is neither a number nor a list of boards"
        raise TablaTypeError(text, hint=f"write ['{devices}']")
    if not isinstance(devices, Sequence):
        number = checked_whole("devices", devices)
        return None if number == 1 and scheduler is None else Crew(devices=number, scheduler=scheduler)
    return _boards(devices, scheduler, engine)


def _boards(names: Sequence[str], scheduler: str | None, engine: str | None) -> Crew:
    if not names or not all(isinstance(name, str) for name in names):
        raise TablaTypeError("devices: this names no boards", hint=_EXAMPLE)
    paths = [place_of(name)[0] for name in names]
    if twice := [path for path in dict.fromkeys(paths) if paths.count(path) > 1]:
        raise TablaError(f"--devices names the board at '{twice[0]}' twice", hint="each board is one device")
    if scheduler is not None:
        raise TablaError("--devices names boards, and --scheduler names workers", hint="leave one of them out")
    if engine is not None:
        raise TablaError("--devices names boards, and --engine another device", hint="leave --engine out")
    return Crew(devices=len(names), boards=tuple(names))

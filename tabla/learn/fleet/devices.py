"""The devices of a fleet: who they are, and how they are opened.

They are simulated ones of this machine, workers of a Dask cluster, or boards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tabla.base.kinds import WholeNumber
from tabla.base.parameters import checked_text
from tabla.base.source import TablaError, TablaTypeError
from tabla.build.stages import Stages
from tabla.graph.fleet import Shares
from tabla.host.engines.session import Session, session
from tabla.host.link.machine import PREFIX, place_of
from tabla.learn.fleet.plan import FleetSession
from tabla.program.host import Host

DEVICES = WholeNumber(low=1, high=1024)
"""How many devices a fleet may have."""
_EXAMPLE = f"give a number, or boards such as {PREFIX}/dev/ttyUSB0,{PREFIX}/dev/ttyUSB1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """`count` devices, each on a board of `boards`, or simulated.

    Simulated devices are played by the workers of the Dask scheduler at the address `scheduler`, or else by one
    machine of this process, which takes one share after the other.
    """

    count: int
    boards: tuple[str, ...] = ()
    scheduler: str | None = None

    @property
    def remote(self) -> bool:
        """Whether the devices are not in this process, so that they take all steps."""
        return bool(self.boards or self.scheduler)

    def text(self, engine: str) -> str:
        """Return who learns, for reports."""
        if self.boards:
            return f"boards {', '.join(self.boards)}"
        return f"engine {engine}" + (" on the workers of a cluster" if self.scheduler else "")


def devices_of(devices: int | Sequence[str] | None, scheduler: str | None, engine: str | None) -> Devices | None:
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
        number = DEVICES.checked("devices", devices)
        return None if number == 1 and scheduler is None else Devices(count=number, scheduler=scheduler)
    return _boards(devices, scheduler, engine)


def _boards(names: Sequence[str], scheduler: str | None, engine: str | None) -> Devices:
    if not names or not all(isinstance(name, str) for name in names):
        raise TablaTypeError("devices: this names no boards", hint=_EXAMPLE)
    paths = [place_of(name)[0] for name in names]
    if twice := [path for path in dict.fromkeys(paths) if paths.count(path) > 1]:
        raise TablaError(f"--devices names the board at '{twice[0]}' twice", hint="each board is one device")
    if scheduler is not None:
        raise TablaError("--devices names boards, and --scheduler names workers", hint="leave one of them out")
    if engine is not None:
        raise TablaError("--devices names boards, and --engine another device", hint="leave --engine out")
    return Devices(count=len(names), boards=tuple(names))


@contextmanager
def fleet_session(share: Stages, devices: Devices, engine: str) -> Iterator[FleetSession]:
    """Open the devices of a fleet for the length of a ``with`` block; `share` is the build of each of them.

    Raises `TablaError` for a device that is not there or runs another program, and for a tool that is missing.
    """
    shares = Shares.of(share.lowered, share.format, devices.count)
    with ExitStack() as opened:
        workers: list[Session] = []
        if devices.scheduler is not None:
            from tabla.host.workers import machines

            host = Host(share.schedule)
            own = (share.image, share.module, share.overlay, devices.scheduler)
            found = opened.enter_context(machines(*own, engine, devices.count))
            workers = [Session(machine=machine, host=host) for machine in found]
            names = [machine.name for machine in found]
        else:
            # One simulation plays all devices: each share begins with a load, so nothing of the one before is left.
            names = list(devices.boards) or [f"engine {engine}"]
            for place in devices.boards or (engine,):
                machine = session(share.schedule, share.image, place, share.module, share.overlay)
                workers.append(opened.enter_context(machine))
        yield FleetSession(workers=workers, names=names, shares=shares)

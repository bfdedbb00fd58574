"""Opening the machines that play the devices of a fleet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tabla.fleet.crew import Crew
from tabla.program.host import Host
from tabla.simulation import Session, session
from tabla.stages import Stages
from tabla.training.fleet import FleetSession, Shares


@contextmanager
def fleet_session(share: Stages, crew: Crew, engine: str) -> Iterator[FleetSession]:
    """Open the devices of a crew for the length of a ``with`` block; `share` is the build of each of them.

    Raises `TablaError` for a device that is not there or runs another program, and for a tool that is missing.
    """
    shares = Shares(graph=share.lowered, format=share.format, devices=crew.devices)
    with ExitStack() as opened:
        players: list[Session] = []
        if crew.scheduler is not None:
            from tabla.fleet.cluster import machines

            host = Host(share.schedule)
            own = (share.image, share.module, share.overlay, crew.scheduler)
            found = opened.enter_context(machines(*own, engine, crew.devices))
            players = [Session(machine=machine, host=host) for machine in found]
            names = [machine.name for machine in found]
        else:
            # One simulation plays all devices: each share begins with a load, so nothing of the one before is left.
            names = list(crew.boards) or [f"engine {engine}"]
            for place in crew.boards or (engine,):
                machine = session(share.schedule, share.image, place, share.module, share.overlay)
                players.append(opened.enter_context(machine))
        yield FleetSession(players=players, names=names, shares=shares)

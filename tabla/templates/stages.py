"""The stage table of ``machine.td``: which cycle shows what, and which wire is wanted in which cycle.

A lane and a root are the same pipeline. The path ``issue`` follows an operation of `lane_issue` or `root_issue`
and counts cycles from its issue. The path ``write`` follows an operation of `lane_write` or `root_write` and counts
cycles from the write itself, so that the stages before the write have negative cycles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tabla.templates.records import MACHINE, integer, records, string, strings


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage of a path.

    `cycle` counts from the issue or from the write. `shows` says in words what stands in the stage's registers.
    `lane` and `root` name the wires that a lane and a root want in this cycle.
    """

    path: str
    name: str
    cycle: int
    shows: str
    lane: tuple[str, ...]
    root: tuple[str, ...]


@cache
def stages(path: str) -> tuple[Stage, ...]:
    """Return the stages of a path, `issue` or `write`, in the order of their cycles."""
    found = [
        Stage(
            path=path,
            name=string(record, "Name"),
            cycle=integer(record, "Cycle"),
            shows=string(record, "Shows"),
            lane=strings(record, "Lane"),
            root=strings(record, "Root"),
        )
        for record in records(MACHINE).of_class("Stage")
        if string(record, "Path") == path
    ]
    return tuple(sorted(found, key=lambda stage: stage.cycle))


@cache
def stage_cycle(path: str, name: str) -> int:
    """Return the cycle of a stage. An unknown path or name is a `KeyError`."""
    return {stage.name: stage.cycle for stage in stages(path)}[name]


@cache
def wanted(kind: str, wire: str) -> int:
    """Return the cycle in which a unit's datapath wants a wire.

    `kind` is a unit without the number of its sequencer: `lane_issue`, `lane_write`, `root_issue` or `root_write`. A
    wire that the table does not name for it is a `KeyError`.
    """
    place, path = kind.split("_")
    for stage in stages(path):
        if wire in (stage.lane if place == "lane" else stage.root):
            return stage.cycle
    raise KeyError(f"the stage table has no wire {wire!r} of {kind}")

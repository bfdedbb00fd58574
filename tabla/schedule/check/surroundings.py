"""What the evaluation of a run sees of the machine around it: the memories, the tallies, and what other runs
have made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tabla.schedule.check.expected import Events
from tabla.schedule.check.fields import Active
from tabla.schedule.check.residues import Mode, Residues, Sum
from tabla.schedule.check.runs import Asked, Numbers
from tabla.schedule.check.wiring import Sources, Wiring
from tabla.schedule.placing.schedule import Schedule


class Memory(Protocol):
    """Whatever gives the proof the words that operations read, as residues."""

    def read(
        self,
        asked: Asked,
        lanes: slice,
        active: Active | None,
        name: str,
        *,
        stored: bool = False,
    ) -> Residues:
        """The words at addresses, of shape [addresses, groups, lanes], extent 1 where all have the same.

        `active`, of shape [addresses, lanes], says which of the `lanes` need them; None: all. `name` is who asks. With
        `stored` they are integers of wide models, with their guard bits.
        """

    def gathered(self, asked: Asked, position: Residues, name: str) -> Residues:
        """The words at addresses to which data add a position."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Made:
    """What a run has made: words, function values and sums for the tree of those operations of which they are wanted.

    `left` is what its accumulators hold at its end.
    """

    word_operations: Numbers
    words: Residues
    value_operations: Numbers
    values: Residues
    sum_operations: Numbers
    sums: Sum
    mode: Mode
    left: Sum


class Runs(Protocol):
    """The machine as an evaluation sees it: the memories, and what the runs before have made."""

    schedule: Schedule
    wiring: Wiring
    memory: Memory
    made: dict[int, Made]
    rounded: Events
    applied: Events
    groups: int

    def taken(self, sources: Sources) -> Residues:
        """Return the words of some sources, of shape [words, groups, lanes]."""

    def sent(self, parts: list[tuple[Active, Sources]], *, everywhere: bool, mode: Mode, name: str) -> Sum:
        """Return the tree's word for the sums that sequencers have sent, of each group or (`everywhere`) of all."""

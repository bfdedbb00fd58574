"""Tasks with their cycles, and what every scheduler must do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tabla.schedule.strands.strand import Strand
from tabla.schedule.strands.tasks import ForwardableOperand, MemoryKey, Task


@dataclass(frozen=True, slots=True)
class Placed:
    """A task with its start cycle.

    `forwards` has the operands that are taken from a register of the root instead of from memory, each with the
    register's name.
    """

    task: Task
    start: int
    forwards: tuple[tuple[ForwardableOperand, str], ...] = ()

    def strands(self) -> list[Strand]:
        """Return the strands of the task at their cycles, with the forwarded operands put in."""
        out = [s.at(s.start + self.start) for s in self.task.strands]
        for operand, register in self.forwards:
            strand = out[operand.strand]
            body = list(strand.body)
            read = body[operand.slot]
            body[operand.slot] = replace(
                read,
                fields={**read.fields, operand.operand: register},
                addresses={k: v for k, v in read.addresses.items() if k != operand.operand},
            )
            out[operand.strand] = replace(strand, body=tuple(body))
        return out


def all_strands(placed: Iterable[Placed]) -> list[Strand]:
    """Return the strands of all placed tasks, ordered by unit and start cycle."""
    return sorted((s for p in placed for s in p.strands()), key=lambda s: (s.unit, s.start))


class Scheduler(Protocol):
    """Gives every task a start cycle.

    A scheduler must respect the order in which tasks need each other's words, the units of the array, the bus and the
    function unit's output. The checker, which shares no code with any scheduler, refuses a schedule that does not.
    """

    def __call__(
        self, tasks: Sequence[Task], models: frozenset[MemoryKey], *, sequencers: int, waves: bool
    ) -> list[Placed] | None:
        """Place all tasks, and return them in the order in which they were given; None if there is no schedule.

        `models` are the places that updates overwrite: there a word is read before it is written, everywhere else
        after. `sequencers` is the array's number of sequencers. `waves` asks for the parts of several statements in
        turns (:class:`tabla.schedule.mapping.mapping.Mapping`); a scheduler may ignore it.
        """

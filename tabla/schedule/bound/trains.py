"""The operations that units issue before some words can be there: a single-machine schedule with release times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Unit = Literal["root", "lane"]


@dataclass(frozen=True, slots=True)
class Train:
    """Pieces of work of roots and lanes for which some words wait.

    The key of a piece says how many samples before it is done, for which statement, and on which unit. Its value is
    the first cycle in which it can issue, and in how many cycles it does.
    """

    issues: Mapping[tuple[int, int, Unit], tuple[int, int]] = field(default_factory=dict)

    def before(self) -> Train:
        """Return the same work, seen from the sample after."""
        return Train({(age + 1, statement, unit): work for (age, statement, unit), work in self.issues.items()})

    def joined(self, other: Train) -> Train:
        """Return the union of the two trains."""
        return Train({**self.issues, **other.issues})

    def with_issue(self, statement: int, unit: Unit, head: int, cycles: int) -> Train:
        """Return the train with one more piece."""
        return Train({**self.issues, (0, statement, unit): (head, cycles)})

    def end(self, unit: Unit) -> int:
        """Return the first cycle in which a unit can issue the last operation, if it does one piece after the other."""
        work = sorted(piece for (_, _, who), piece in self.issues.items() if who == unit)
        free = work[0][0]
        for head, cycles in work:
            free = max(free, head) + cycles
        return free - 1

"""What a unit issues on the way to some words: each piece no sooner than in some cycle, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Unit = Literal["root", "lane"]


@dataclass(frozen=True, slots=True)
class Train:
    """Work of roots and lanes that some words wait for.

    `issues`, by samples before, statement and unit: the first cycle in which it can issue, and in how many it does.
    """

    issues: Mapping[tuple[int, int, Unit], tuple[int, int]] = field(default_factory=dict)

    def before(self) -> Train:
        """The same in the sample before."""
        return Train({(age + 1, statement, unit): work for (age, statement, unit), work in self.issues.items()})

    def joined(self, other: Train) -> Train:
        """Both."""
        return Train({**self.issues, **other.issues})

    def with_issue(self, statement: int, unit: Unit, head: int, cycles: int) -> Train:
        """With one more piece."""
        return Train({**self.issues, (0, statement, unit): (head, cycles)})

    def end(self, unit: Unit) -> int:
        """The first cycle in which a unit can issue the last of it."""
        work = sorted(piece for (_, _, who), piece in self.issues.items() if who == unit)
        free = work[0][0]
        for head, cycles in work:
            free = max(free, head) + cycles
        return free - 1

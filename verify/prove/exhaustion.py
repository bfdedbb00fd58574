"""A subject that is not solved but simulated, for every word."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from verify.prove.planted import Mutant, planted
from verify.prove.solver import Verdict
from verify.prove.subject import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhaustion(Subject):
    """A subject that gives the hardware every one of `words` words.

    `fault` returns what is wrong with the words that come out, or nothing.
    """

    words: int
    fault: Callable[[], str]

    @property
    def cycles(self) -> str:
        """What the subject covers, for the table."""
        return f"all {self.words:,} words"

    def proved(self, limit: float = 900) -> Verdict:
        """Simulate it."""
        started = time.monotonic()
        found = self.fault()
        return Verdict(found=found, reached=True, assertions=self.words, seconds=time.monotonic() - started)

    def refuted(self, mutant: Mutant, limit: float = 900) -> Verdict:
        """Simulate a mutant."""
        with planted(mutant):
            return self.proved(limit)

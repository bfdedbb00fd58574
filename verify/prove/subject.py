"""A subject of the proofs: some components, what is claimed of them, and the mutants that the proof must refuse."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from verify.prove.bench import Bench
from verify.prove.planted import Mutant, planted
from verify.prove.solver import Verdict, prove


class Speed(enum.Enum):
    """Which command runs a proof first: `make test`, `make prove-quick`, or only `make prove`."""

    TEST = "test"
    QUICK = "quick"
    LONG = "long"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A proof.

    `property` is what it shows, in a sentence, and `bounds` what it is restricted to. A proof by induction is
    `unbounded`: it holds in all cycles. Another one holds in the first `depth` cycles. `search` is the number of cycles
    in which the counterexamples of its mutants are looked for.
    """

    group: str
    name: str
    property: str
    bounds: str
    build: Callable[[], Bench]
    depth: int
    unbounded: bool = True
    solver: str = "yices"
    speed: Speed = Speed.QUICK
    mutants: tuple[Mutant, ...] = ()
    search: int = 12

    @property
    def cycles(self) -> str:
        """In how many cycles the claims hold, for the table."""
        return f"unbounded ({self.depth})" if self.unbounded else f"the first {self.depth}"

    def proved(self, limit: float = 900) -> Verdict:
        """Prove it."""
        return prove(self.build(), depth=self.depth, solver=self.solver, unbounded=self.unbounded, limit=limit)

    def refuted(self, mutant: Mutant, limit: float = 300) -> Verdict:
        """Try to prove it of a mutant: a counterexample from the start is looked for first, then the induction."""
        with planted(mutant):
            bench = self.build()
            bench.rtlil()
        depth = max(self.depth, self.search)
        return prove(bench, depth=depth, solver=self.solver, unbounded=self.unbounded, limit=limit)

"""Gates of two netlists that are to be told apart: by random values, by structure, and by a solver."""

from __future__ import annotations

import random
import time
from typing import Any

import z3

from verify.fuzz.gates import FALSE, Gates

_PATTERNS = 256
"""The random values of each gate."""
SOLVER_SECONDS = 60.0
"""How long the solver may take in all steps of a proof. Gates that it has not compared by then count as unequal."""
_CANDIDATES = 4
"""With how many gates of the same random values a gate is compared."""


class ComparedGates(Gates):
    """Gates with random values. While `merges` is set, a new gate is replaced by an older one that a solver finds equal
    for all inputs.
    """

    def __init__(self, seconds: float = SOLVER_SECONDS) -> None:
        super().__init__()
        self.seconds = seconds
        """How long the solver may still take."""
        self.merges = False
        self._assumed = (1 << _PATTERNS) - 1
        """The random values for which all that is assumed holds, a bit for each."""
        self._chance = random.Random(1)
        self._every = (1 << _PATTERNS) - 1
        self._values = [0]
        self._operands: list[tuple[int, int] | None] = [None]
        self._alike: dict[int, list[int]] = {0: [FALSE]}
        self._solver: Any = z3.SolverFor("QF_FD")
        self._terms: dict[int, Any] = {0: z3.BoolVal(False)}

    def free(self) -> int:
        """Return the literal of a new input."""
        literal = super().free()
        self._values.append(self._chance.getrandbits(_PATTERNS))
        self._operands.append(None)
        return literal

    def both(self, left: int, right: int) -> int:
        """Return the literal of the AND of two."""
        before = self._count
        literal = super().both(left, right)
        if self._count == before:
            return literal
        self._values[-1] = self._value(left) & self._value(right)
        self._operands[-1] = left, right
        inverted = self._values[-1] & 1
        alike = self._alike.setdefault(self._value(literal ^ inverted), [])
        if self.merges:
            for other in alike[:_CANDIDATES]:
                if self._proved_equal(literal, other ^ inverted):
                    self._known[min(left, right), max(left, right)] = other ^ inverted
                    return other ^ inverted
        alike.append(literal ^ inverted)
        return literal

    def assume_equal(self, one: int, other: int) -> None:
        """Look from now on at those inputs only for which two literals are equal."""
        if one != other:
            self._assumed &= ~(self._value(one) ^ self._value(other))
            self._solver.add(self._term(one) == self._term(other))

    def may_be_equal(self, one: int, other: int) -> bool:
        """Return whether two literals have the same values among the random ones that satisfy all assumptions."""
        return not (self._value(one) ^ self._value(other)) & self._assumed

    def equal(self, one: int, other: int) -> bool:
        """Return whether two literals are equal for all inputs that satisfy all assumptions.

        Where the solver does not know, the result is False.
        """
        return one == other or (self.may_be_equal(one, other) and self._proved_equal(one, other))

    def _value(self, literal: int) -> int:
        value = self._values[literal >> 1]
        return value ^ self._every if literal & 1 else value

    def _proved_equal(self, one: int, other: int) -> bool:
        if self.seconds <= 0:
            return False
        began = time.monotonic()
        differ = z3.Bool(f"differ{one}_{other}")
        self._solver.add(differ == z3.Xor(self._term(one), self._term(other)))
        self._solver.set("timeout", int(1000 * self.seconds) + 1)
        found = self._solver.check(differ)
        self.seconds -= time.monotonic() - began
        return bool(found == z3.unsat)

    def _term(self, literal: int) -> Any:
        """Return what the solver calls a literal, and tell the solver of all gates before it."""
        waiting = [literal >> 1]
        while waiting:
            gate = waiting[-1]
            operands = self._operands[gate]
            before = [] if gate in self._terms or operands is None else [wire >> 1 for wire in operands]
            if missing := [wire for wire in before if wire not in self._terms]:
                waiting += missing
                continue
            waiting.pop()
            if gate in self._terms:
                continue
            self._terms[gate] = z3.Bool(f"gate{gate}")
            if operands is not None:
                self._solver.add(self._terms[gate] == z3.And(*map(self._known_term, operands)))
        return self._known_term(literal)

    def _known_term(self, literal: int) -> Any:
        term = self._terms[literal >> 1]
        return z3.Not(term) if literal & 1 else term

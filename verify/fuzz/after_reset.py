"""Proofs that a fault in the value of a register in reset changes nothing that a host can see.

Two copies of a design, one with the fault, start in the same state and take the same inputs. In reset some registers
come to differ. Out of reset, equal states have equal outputs and become equal states, so the proof has to look at the
states that differ alone. It does so in one of two ways.

1. *The copies meet.* Within `LONGEST` cycles after a reset all registers have become equal, whatever the inputs are.
2. *A command mends.* From a reset to the first command only some registers can differ, and many keep their value. The
   command comes in one of the first `SETTLING` cycles, in a state that can be reached then, or later, in any state in
   which the registers have the values that they keep. Within `LONGEST` cycles all have become equal.

The outputs are equal all the time, and a further reset, before the copies have met or after that, leads to states from
which the proof has begun. Nothing is assumed of inputs, microcode, memories and time, but that a reset lasts as many
cycles as the manifest of the design asks for. The registers that can differ, and those that keep their value, are found
as a fixed point: more and fewer of them until the steps hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from verify.fuzz.gates import FALSE, TRUE, Gates, Netlist

RESET, COMMAND = "rst", "command_valid"
LONGEST = 16
"""The most cycles in which all registers must have become equal."""
SETTLING = 8
"""The cycles after a reset in which states are followed one by one. Sequencers fetch their first strands in them."""
_MOST_DIFFERING = 1500
"""The most registers, each of one bit, that may differ. A proof with more is given up."""
Pair = tuple[list[int], list[int]]
"""The literals of all registers of both copies."""


class _OutputsDifferError(Exception):
    """Outputs may differ, or too many registers, so there is no proof."""


@dataclass(slots=True, kw_only=True, eq=False)
class _Known:
    """What is known of pairs of states: the registers that can differ, and the values that registers have, in either
    copy. Registers are numbers from 0.
    """

    differing: set[int]
    kept: tuple[dict[int, int], dict[int, int]]

    @classmethod
    def of(cls, states: Pair) -> _Known:
        """Return what is known of these states."""
        first, second = (
            {number: literal for number, literal in enumerate(side) if literal in (FALSE, TRUE)} for side in states
        )
        return cls(differing=_unequal(states), kept=(first, second))

    def widened(self, states: Pair) -> bool:
        """Let it hold for these states, too. Return whether it did not yet."""
        more = _unequal(states) - self.differing
        self.differing |= more
        grown = bool(more)
        for kept, side in zip(self.kept, states, strict=True):
            for number in [number for number, value in kept.items() if side[number] != value]:
                del kept[number]
                grown = True
        return grown

    def states(self, gates: Gates, count: int) -> Pair:
        """Return any pair of states of `count` registers of which this is so."""
        one, other = self.kept
        first = [one[number] if number in one else gates.free() for number in range(count)]
        second = [
            other[number] if number in other else gates.free() if number in self.differing else literal
            for number, literal in enumerate(first)
        ]
        return first, second


@dataclass(slots=True, kw_only=True, eq=False)
class AfterReset:
    """The proof for a design and the same design with a fault."""

    sound: Netlist
    faulty: Netlist
    reset_cycles: int
    gates: Gates = field(default_factory=Gates)

    def holds(self) -> bool:
        """Return whether it is proved that the outputs are always equal."""
        if self.sound.inputs != self.faulty.inputs or self.sound.outputs.keys() != self.faulty.outputs.keys():
            return False
        if self.sound.initial != self.faulty.initial or not {RESET, COMMAND} <= set(self.sound.inputs):
            return False
        try:
            after = self._next(self._same(), rst=FALSE)
            return not _unequal(after) and (self._holds_by(self._meet_at_once) or self._holds_by(self._meet_by_command))
        except _OutputsDifferError:
            return False

    def _holds_by(self, way: Callable[[_Known], list[Pair] | None]) -> bool:
        """Return whether the copies meet after a reset. `way` gives the states in which they have not met yet."""
        try:
            known = _Known.of(self._reset(self._same(), self.reset_cycles))
            grown = True
            while grown:
                # A reset may last longer.
                self._close(known, rst=TRUE)
                apart = way(known)
                if apart is None:
                    return False
                # A reset may come before the copies have met.
                begun = [self._next(states, rst=TRUE) for states in apart]
                any_begun = _Known.of(begun[0])
                for states in begun[1:]:
                    any_begun.widened(states)
                grown = known.widened(self._reset(self._any(any_begun), self.reset_cycles - 1))
        except _OutputsDifferError:
            return False
        return True

    def _meet_at_once(self, known: _Known) -> list[Pair] | None:
        return self._apart(self._any(known))

    def _meet_by_command(self, known: _Known) -> list[Pair] | None:
        """Return the states until a command comes, in any cycle, and until the copies have met after it."""
        rest = [self._any(known)]
        while len(rest) <= SETTLING:
            rest.append(self._next(rest[-1], rst=FALSE, command=FALSE))
        settled = _Known.of(rest[-1])
        self._close(settled, rst=FALSE, command=FALSE)
        apart = list[Pair]()
        for states in [self._any(settled), *rest[:-1]]:
            after = self._apart(states, command=TRUE)
            if after is None:
                return None
            apart += after
        return apart

    def _apart(self, states: Pair, command: int | None = None) -> list[Pair] | None:
        """Return these states and the ones after them until all registers are equal; None if that lasts too long."""
        apart = [states]
        for cycle in range(LONGEST):
            after = self._next(apart[-1], rst=FALSE, command=None if cycle else command)
            left = _unequal(after)
            if not left:
                return apart
            if len(left) > _MOST_DIFFERING:
                return None
            apart.append(after)
        return None

    def _close(self, known: _Known, *, rst: int, command: int | None = None) -> None:
        """Let something be known of all states that can follow, too."""
        while known.widened(self._next(self._any(known), rst=rst, command=command)):
            if len(known.differing) > _MOST_DIFFERING:
                raise _OutputsDifferError

    def _same(self) -> Pair:
        same = [self.gates.free() for _ in self.sound.registers]
        return same, same

    def _any(self, known: _Known) -> Pair:
        return known.states(self.gates, len(self.sound.registers))

    def _reset(self, states: Pair, cycles: int) -> Pair:
        for _ in range(cycles):
            states = self._next(states, rst=TRUE)
        return states

    def _next(self, states: Pair, *, rst: int, command: int | None = None) -> Pair:
        """Return the pair of states a cycle later. Outputs must be equal in this one.

        Inputs that are not given may have any value.
        """
        given = {RESET: rst} | ({} if command is None else {COMMAND: command})
        inputs = [given.get(name, self.gates.free()) for name in self.sound.inputs]
        first, second = (
            self.gates.computed(design, inputs, side)
            for design, side in zip((self.sound, self.faulty), states, strict=True)
        )
        outputs = zip(self.sound.outputs.values(), self.faulty.outputs.values(), strict=True)
        if any(first[one >> 1] ^ one & 1 != second[other >> 1] ^ other & 1 for one, other in outputs):
            raise _OutputsDifferError
        return (
            [first[wire >> 1] ^ wire & 1 for wire in self.sound.registers.values()],
            [second[wire >> 1] ^ wire & 1 for wire in self.faulty.registers.values()],
        )


def _unequal(states: Pair) -> set[int]:
    return {number for number, (one, other) in enumerate(zip(*states, strict=True)) if one != other}


def same_after_reset(sound: Netlist, faulty: Netlist, reset_cycles: int) -> bool:
    """Return whether it is proved that no host sees which values registers have in reset."""
    same_registers = list(sound.registers) == list(faulty.registers)
    return same_registers and AfterReset(sound=sound, faulty=faulty, reset_cycles=reset_cycles).holds()

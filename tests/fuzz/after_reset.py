"""Proofs that a fault in the value of a register in reset changes nothing that a host can see.

Two copies of a design, one with the fault, start in the same state and take the same inputs. In reset some registers
come to differ. Out of reset, equal states have equal outputs and become equal states, so the proof has to look at the
states that differ alone. It does so in one of two ways.

1. *The copies meet.* Within `LONGEST` cycles after a reset all registers have become equal, whatever the inputs are.
2. *A command mends.* From a reset to the first command only the registers of a set *differing* can differ, and many
   registers keep the value that they have in reset. Within `LONGEST` cycles of the command all have become equal.

The outputs are equal all the time, and a further reset on the way leads to states from which the proof has begun.
Nothing is assumed of inputs, microcode, memories and time, but that a reset lasts as many cycles as the manifest of
the design asks for. The registers that can differ, and those that keep their value, are found as a fixed point: more
and fewer of them until the steps hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fuzz.gates import FALSE, TRUE, Gates, Netlist

RESET, COMMAND = "rst", "command_valid"
LONGEST = 16
"""The most cycles in which all registers must have become equal."""
_MOST_DIFFERING = 1500
"""The most registers, each of one bit, that may differ. A proof with more is given up."""
Pair = tuple[list[int], list[int]]
"""The literals of all registers, or of all wires, of both copies."""


@dataclass(slots=True, kw_only=True, eq=False)
class AfterReset:
    """The proof for a design and the same design with a fault. Registers are numbers from 0.

    Those of `ever` can differ at any time, those of `differing` after a reset. `kept` has the values that registers
    have after a reset, in either copy.
    """

    sound: Netlist
    faulty: Netlist
    reset_cycles: int
    gates: Gates = field(default_factory=Gates)
    ever: set[int] = field(default_factory=set)
    differing: set[int] = field(default_factory=set)
    kept: tuple[dict[int, int], dict[int, int]] = field(default_factory=lambda: ({}, {}))

    def holds(self) -> bool:
        """Return whether it is proved that the outputs are always equal."""
        if self.sound.inputs != self.faulty.inputs or self.sound.outputs.keys() != self.faulty.outputs.keys():
            return False
        if self.sound.initial != self.faulty.initial or not {RESET, COMMAND} <= set(self.sound.inputs):
            return False
        if not self._equal_states_stay_equal():
            return False
        return self._holds_by(self._meets_after_reset) or self._holds_by(self._meets_after_command)

    def _holds_by(self, way: Callable[[], bool]) -> bool:
        """Return whether a proof of one way holds, wherever a reset comes."""
        self.ever.clear()
        before = -1
        while before < len(self.ever) <= _MOST_DIFFERING:
            before = len(self.ever)
            if not self._reset() or not way():
                return False
            if len(self.ever) == before:
                return True
        return False

    def _equal_states_stay_equal(self) -> bool:
        same = [self.gates.free() for _ in self.sound.registers]
        return not self._unequal(self._next((same, same), rst=FALSE)) and self._same_outputs((same, same))

    def _reset(self) -> bool:
        """Find what differs after a reset from any pair of states that only differs in `ever`, and what is kept.

        Return whether the outputs are equal in all of its cycles.
        """
        any_state = [self.gates.free() for _ in self.sound.registers]
        states = any_state, [self.gates.free() if n in self.ever else w for n, w in enumerate(any_state)]
        for _ in range(self.reset_cycles):
            states = self._next(states, rst=TRUE)
            self.differing = self._unequal(states)
            self.ever |= self.differing
            if len(self.ever) > _MOST_DIFFERING or not self._same_outputs(states):
                return False
        for kept, side in zip(self.kept, states, strict=True):
            kept.clear()
            kept.update({number: literal for number, literal in enumerate(side) if literal in (FALSE, TRUE)})
        return True

    def _meets_after_reset(self) -> bool:
        return self._meets(lambda states: self._next(states, rst=FALSE))

    def _meets_after_command(self) -> bool:
        return self._quiet() and self._meets(lambda states: self._next(states, rst=FALSE, command=TRUE))

    def _meets(self, first: Callable[[Pair], Pair]) -> bool:
        """Return whether all pairs become equal that `first` makes of a pair that only differs in `differing`."""
        states = self._states()
        if not self._same_outputs(states):
            return False
        for cycle in range(LONGEST):
            states = self._next(states, rst=FALSE) if cycle else first(states)
            left = self._unequal(states)
            self.ever |= left
            if not left:
                return True
            if len(self.ever) > _MOST_DIFFERING or not self._same_outputs(states):
                return False
        return False

    def _quiet(self) -> bool:
        """Find what differs and what is kept between a reset and a command."""
        while len(self.differing) <= _MOST_DIFFERING:
            states = self._states()
            after = self._next(states, rst=FALSE, command=FALSE)
            more = self._unequal(after) - self.differing
            lost = [
                {number for number, value in kept.items() if side[number] != value}
                for kept, side in zip(self.kept, after, strict=True)
            ]
            if not more and not any(lost):
                self.ever |= self.differing
                return True
            self.differing |= more
            for kept, numbers in zip(self.kept, lost, strict=True):
                for number in numbers:
                    del kept[number]
        return False

    def _states(self) -> Pair:
        """Return any pair of states that differs in `differing` only, and in which the registers of `kept` are kept."""
        one, other = self.kept
        first = [one.get(number, self.gates.free()) for number in range(len(self.sound.registers))]
        second = [
            other.get(number, self.gates.free() if number in self.differing else literal)
            for number, literal in enumerate(first)
        ]
        return first, second

    def _wires(self, states: Pair, inputs: list[int]) -> Pair:
        first, second = states
        return self.gates.computed(self.sound, inputs, first), self.gates.computed(self.faulty, inputs, second)

    def _next(self, states: Pair, *, rst: int, command: int | None = None) -> Pair:
        """Return the pair of states a cycle later. Inputs that are not given may have any value."""
        given = {RESET: rst} | ({} if command is None else {COMMAND: command})
        first, second = self._wires(states, [given.get(name, self.gates.free()) for name in self.sound.inputs])
        return (
            [first[wire >> 1] ^ wire & 1 for wire in self.sound.registers.values()],
            [second[wire >> 1] ^ wire & 1 for wire in self.faulty.registers.values()],
        )

    def _unequal(self, states: Pair) -> set[int]:
        return {n for n, (one, other) in enumerate(zip(*states, strict=True)) if one != other}

    def _same_outputs(self, states: Pair) -> bool:
        first, second = self._wires(states, [self.gates.free() for _ in self.sound.inputs])
        return all(
            first[one >> 1] ^ one & 1 == second[other >> 1] ^ other & 1
            for one, other in zip(self.sound.outputs.values(), self.faulty.outputs.values(), strict=True)
        )


def same_after_reset(sound: Netlist, faulty: Netlist, reset_cycles: int) -> bool:
    """Return whether it is proved that no host sees which values registers have in reset."""
    same_registers = list(sound.registers) == list(faulty.registers)
    return same_registers and AfterReset(sound=sound, faulty=faulty, reset_cycles=reset_cycles).holds()

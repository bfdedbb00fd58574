"""Proofs by induction, with their base, that two designs have equal outputs in every cycle.

*Base.* Before the first cycle, two registers of the same name are equal if the designs give both the same initial
value. Those without an initial value begin with one that nobody knows, and that is the same in both designs.

*Step.* Some pairs of registers are assumed to be equal, and some registers to have their initial value. All of them
must be so a cycle later, too, for all inputs and all values of the other registers. What does not stay so is not
assumed any more, and the step is tried anew. What a step leaves as it was holds in every cycle, and from it the outputs
must be equal.

Of the inputs only those are known that are tied to a constant. So a reset may come in any cycle, and last for any
number of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from verify.fuzz.compared_gates import SOLVER_SECONDS, ComparedGates
from verify.fuzz.gates import Netlist

Constants = dict[str, int]
"""The literal of each register that always has its initial value."""


@dataclass(slots=True, kw_only=True, eq=False)
class Induction:
    """The proof for two designs, such as one and the same one with a fault.

    Registers of `equal` are those of both. Inputs of `tied` are a constant.
    """

    designs: tuple[Netlist, Netlist]
    tied: Mapping[str, int]
    equal: set[str] = field(default_factory=set)
    constant: tuple[Constants, Constants] = field(default_factory=lambda: ({}, {}))
    seconds: float = SOLVER_SECONDS
    gates: ComparedGates = field(default_factory=ComparedGates)
    wires: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    """The literals of all wires of each design."""

    def holds(self) -> bool:
        """Return whether it is proved that the outputs are always equal."""
        one, other = self.designs
        if one.inputs != other.inputs or one.outputs.keys() != other.outputs.keys():
            return False
        self._base()
        while self._step(solves=False) or (self._outputs(self._may_be_equal) and self._step(solves=True)):
            if not self._outputs(self._may_be_equal) or self.seconds <= 0:
                return False
        return self._outputs(self._equal)

    def _outputs(self, same: Callable[[int, int], bool]) -> bool:
        """Return whether all pairs of outputs are the same. If not, they are not with less assumed either."""
        seen, shown = (self._literals(side, design.outputs) for side, design in enumerate(self.designs))
        return all(same(seen[name], shown[name]) for name in seen)

    def _may_be_equal(self, one: int, other: int) -> bool:
        return self.gates.may_be_equal(one, other)

    def _equal(self, one: int, other: int) -> bool:
        return self.gates.equal(one, other)

    def _base(self) -> None:
        """Find what is equal and what has its initial value before the first cycle."""
        one, other = self.designs
        self.equal = one.begins_like(other)
        for constant, design in zip(self.constant, self.designs, strict=True):
            constant.update(design.begun())

    def _step(self, *, solves: bool) -> bool:
        """Take a step from what is assumed, and return whether some of it did not stay.

        Without a solver only those pairs count as unequal that random values tell apart.
        """
        self._compute(solves=solves)
        one, other = (self._literals(side, design.registers) for side, design in enumerate(self.designs))
        same = self._equal if solves else self._may_be_equal
        apart = {name for name in self.equal if not same(one[name], other[name])}
        self.equal -= apart
        self.seconds = self.gates.seconds
        lost = bool(apart)
        for constant, after in zip(self.constant, (one, other), strict=True):
            changed = [name for name, value in constant.items() if after[name] != value]
            lost = lost or bool(changed)
            for name in changed:
                del constant[name]
        return lost

    def _compute(self, *, solves: bool) -> None:
        """Compute all wires of both designs in a cycle in which what is assumed holds."""
        one, other = self.designs
        self.gates = gates = ComparedGates(self.seconds)
        constant = self.constant
        inputs = [self.tied[name] if name in self.tied else gates.free() for name in one.inputs]
        first = {name: constant[0][name] if name in constant[0] else gates.free() for name in one.registers}
        second = {
            name: constant[1][name] if name in constant[1] else first[name] if name in self.equal else gates.free()
            for name in other.registers
        }
        wires = gates.computed(one, inputs, list(first.values()))
        gates.merges = solves
        self.wires = wires, gates.computed(other, inputs, list(second.values()))

    def _literals(self, side: int, wires: Mapping[str, int]) -> dict[str, int]:
        computed = self.wires[side]
        return {name: computed[wire >> 1] ^ wire & 1 for name, wire in wires.items()}


def same_by_induction(one: Netlist, other: Netlist, tied: Mapping[str, int] | None = None) -> bool:
    """Return whether it is proved that two designs have equal outputs in every cycle, with bits of inputs `tied`."""
    return Induction(designs=(one, other), tied=tied or {}).holds()

"""Proofs by induction over two cycles that two designs have equal outputs in every cycle.

A fault can make a register differ for a cycle in which nobody looks at it. Then no set of registers is equal from one
cycle to the next, because an induction over one cycle lets that register differ in all cycles.

*Base.* In the first cycle the outputs are equal, and a set of registers is equal in the first cycle and in the second.
A register without an initial value begins with one that nobody knows, and that is the same in both designs.

*Step.* The registers of the set are assumed to be equal in a cycle and in the next one. Then the outputs must be equal
in that next cycle, and the registers of the set in the one after it, for all inputs and all values of other registers,
but those that always have their initial value. What does not stay equal leaves the set, and the step is tried anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from verify.fuzz.compared_gates import SOLVER_SECONDS, ComparedGates
from verify.fuzz.gates import Gates, Netlist

Registers = dict[str, int]
"""The literal of each register in some cycle."""


def constants_of(design: Netlist, tied: Mapping[str, int]) -> Registers:
    """Return the registers that have their initial value in every cycle, with that value."""
    kept = design.begun()
    while True:
        gates = Gates()
        inputs = [tied[name] if name in tied else gates.free() for name in design.inputs]
        wires = gates.computed(design, inputs, [kept.get(name, gates.free()) for name in design.registers])
        lost = [name for name, value in kept.items() if _literal(wires, design.registers[name]) != value]
        if not lost:
            return kept
        for name in lost:
            del kept[name]


@dataclass(slots=True, kw_only=True, eq=False)
class LongerInduction:
    """The proof for two designs, such as one and the same one with a fault.

    Registers of `equal` are those of both. Inputs of `tied` are a constant.
    """

    designs: tuple[Netlist, Netlist]
    tied: Mapping[str, int]
    equal: set[str] = field(default_factory=set)
    seconds: float = SOLVER_SECONDS
    """How long the solver may still take."""
    gates: ComparedGates = field(default_factory=ComparedGates)

    def holds(self) -> bool:
        """Return whether it is proved that the outputs are always equal."""
        one, other = self.designs
        if one.inputs != other.inputs or one.outputs.keys() != other.outputs.keys():
            return False
        if not self._base():
            return False
        constants = constants_of(one, self.tied), constants_of(other, self.tied)
        while self.equal and self.seconds > 0:
            wires = self._two_cycles(constants)
            lost = self._apart(wires)
            self.seconds = self.gates.seconds
            if not lost:
                return self._same_outputs(wires)
            self.equal -= lost
        return False

    def _base(self) -> bool:
        """Find the set in the first two cycles, and return whether the outputs are equal in the first."""
        one, other = self.designs
        self.equal = one.begins_like(other)
        self._restart()
        wires = self._computed(self._first(one.begun(), other.begun()))
        self.equal -= self._apart(wires)
        same = self._same_outputs(wires)
        self.seconds = self.gates.seconds
        return same

    def _restart(self) -> None:
        self.gates = ComparedGates(self.seconds)
        self.gates.merges = True

    def _first(self, one: Registers, other: Registers) -> tuple[Registers, Registers]:
        """Return registers of both designs, those of the set alike, and with the values that are known."""
        free = self.gates.free
        first = {name: one[name] if name in one else free() for name in self.designs[0].registers}
        second = {
            name: other[name] if name in other else first[name] if name in self.equal else free()
            for name in self.designs[1].registers
        }
        return first, second

    def _computed(self, registers: tuple[Registers, Registers]) -> tuple[list[int], list[int]]:
        """Return the literals of all wires of both designs in a cycle with the same inputs."""
        gates = self.gates
        inputs = [self.tied[name] if name in self.tied else gates.free() for name in self.designs[0].inputs]
        one, other = (
            gates.computed(design, inputs, list(held.values()))
            for design, held in zip(self.designs, registers, strict=True)
        )
        return one, other

    def _two_cycles(self, constants: tuple[Registers, Registers]) -> tuple[list[int], list[int]]:
        """Return the literals of all wires in the second of two cycles in which the set is equal."""
        self._restart()
        wires = self._computed(self._first(*constants))
        one, other = (
            {name: _literal(found, wire) for name, wire in design.registers.items()}
            for design, found in zip(self.designs, wires, strict=True)
        )
        for name in sorted(self.equal):
            self.gates.assume_equal(one[name], other[name])
            other[name] = one[name]
        return self._computed((one, other))

    def _apart(self, wires: tuple[list[int], list[int]]) -> set[str]:
        """Return the registers of the set that may differ in the next cycle."""
        one, other = self.designs
        return {
            name
            for name in sorted(self.equal)
            if not self.gates.equal(_literal(wires[0], one.registers[name]), _literal(wires[1], other.registers[name]))
        }

    def _same_outputs(self, wires: tuple[list[int], list[int]]) -> bool:
        """Return whether all outputs are the same."""
        one, other = self.designs
        return all(
            self.gates.equal(_literal(wires[0], wire), _literal(wires[1], other.outputs[name]))
            for name, wire in one.outputs.items()
        )


def _literal(wires: list[int], wire: int) -> int:
    return wires[wire >> 1] ^ wire & 1


def same_by_longer_induction(one: Netlist, other: Netlist, tied: Mapping[str, int] | None = None) -> bool:
    """Return whether it is proved that two designs have equal outputs in every cycle, with bits of inputs `tied`."""
    return LongerInduction(designs=(one, other), tied=tied or {}).holds()

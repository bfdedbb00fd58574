"""Netlists of two-input gates, and what they compute for inputs that are gates themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SIMPLIFIED = (
    "flatten; opt_expr; opt_clean; memory_map; opt_expr; opt_clean; techmap;"
    " dfflegalize -cell $_DFF_P_ 01; opt_expr -fine; setundef -zero; aigmap; opt_clean -purge"
)
"""What Yosys does to the processes of a design of one clock that `read_blif` takes.

No register is removed for a value that it keeps.
"""
FALSE, TRUE = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Netlist:
    """AND gates in an order in which they can be computed, with wires that are numbers.

    Wire 0 is the constant 0. Then come the inputs, the registers and the gates. A literal is twice a wire, plus one if
    the wire is inverted. `gates` has two literals for each gate, `outputs` a literal for each output, and `registers`
    the literal that each register takes next. `initial` says what each register starts with.
    """

    inputs: tuple[str, ...]
    registers: Mapping[str, int]
    initial: Mapping[str, str]
    outputs: Mapping[str, int]
    gates: Sequence[tuple[int, int]]

    def begun(self) -> dict[str, int]:
        """Return the literal of each register that has an initial value."""
        values = {"0": FALSE, "1": TRUE}
        return {name: values[value] for name, value in self.initial.items() if value in values}

    def begins_like(self, other: Netlist) -> set[str]:
        """Return the registers that are equal in both designs before the first cycle."""
        return {name for name, value in self.initial.items() if value == other.initial.get(name)}


def read_blif(path: Path) -> Netlist:
    """Return the netlist that Yosys wrote with `write_blif`."""
    inputs, outputs = list[str](), list[str]()
    registers, initial = dict[str, str](), dict[str, str]()
    sources, rows = dict[str, list[str]](), dict[str, str]()
    target = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        match words:
            case [".inputs", *names]:
                inputs += names
            case [".outputs", *names]:
                outputs += names
            case [".latch", source, target, _, _, value]:
                registers[target], initial[target] = source, value
            case [".names", *names, target]:
                sources[target] = names
            case [row, *_] if row[0] in "01":
                rows[target] = row
    literals = {name: 2 * number for number, name in enumerate([*inputs, *registers], start=1)}
    gates = list[tuple[int, int]]()
    for name in _ordered(sources, literals, [*outputs, *registers.values()]):
        match [literals[source] for source in sources[name]], rows.get(name, ""):
            case [], value:
                literals[name] = int(value == "1")
            case [source], value:
                literals[name] = source ^ (value == "0")
            case [left, right], value:
                gates.append((left ^ (value[0] == "0"), right ^ (value[1] == "0")))
                literals[name] = 2 * (len(inputs) + len(registers) + len(gates))
    return Netlist(
        inputs=tuple(inputs),
        registers={name: literals[source] for name, source in registers.items()},
        initial=initial,
        outputs={name: literals[name] for name in outputs},
        gates=gates,
    )


def _ordered(sources: Mapping[str, Sequence[str]], given: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Return the gates that are wanted, each behind all of its sources."""
    order, done = list[str](), set(given)
    for root in wanted:
        waiting = [root]
        while waiting:
            name = waiting[-1]
            if name in done:
                waiting.pop()
            elif before := [source for source in sources[name] if source not in done]:
                waiting += before
            else:
                done.add(name)
                order.append(waiting.pop())
    return order


class Gates:
    """AND gates with inverters, no two of them alike, so equal literals stand for equal values for all inputs.

    A literal is twice a gate's number, plus one if it is inverted.
    """

    def __init__(self) -> None:
        self._count = 0
        self._known: dict[tuple[int, int], int] = {}

    def free(self) -> int:
        """Return the literal of a new input."""
        self._count += 1
        return 2 * self._count

    def both(self, left: int, right: int) -> int:
        """Return the literal of the AND of two."""
        left, right = min(left, right), max(left, right)
        if left == FALSE or left == right ^ 1:
            return FALSE
        if left in (TRUE, right):
            return right
        known = self._known.get((left, right))
        if known is None:
            known = self._known[left, right] = self.free()
        return known

    def computed(self, netlist: Netlist, inputs: Sequence[int], registers: Sequence[int]) -> list[int]:
        """Return the literal of every wire of a netlist for literals of its inputs and registers."""
        found, both = [FALSE, *inputs, *registers], self.both
        for left, right in netlist.gates:
            found.append(both(found[left >> 1] ^ left & 1, found[right >> 1] ^ right & 1))
        return found

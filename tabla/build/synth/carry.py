"""Moving logic in front of an ECP5 carry chain into the chain, whose cells have two inputs that Yosys leaves unused.

A carry cell CCU2C has two halves, and each half adds one bit. A half has a LUT4 with inputs A, B, C and D. The whole
LUT4 computes "propagate", ``a ^ b``. The quarter of the LUT4 in which C and D are low sees only A and B, and it
computes "generate". Yosys uses A and B, and ties C and D.

If a summand b is ``h(u, v, w)``, computed by a LUT that nothing else reads, then ``a ^ h(u, v, w)`` fits into the LUT4,
with a at input A. In this module "generate" is then A, so the quarter for "generate" must be equal to A, too. That
holds in two cases: if h has only two inputs, because D can then be tied high; and if h is 0 whenever the two inputs of
h that are put at C and D are both 0. For example an accumulator, ``a + ((sum & keep) ^ start)``, needs no logic beside
its carry chain.

A summand with more inputs is split into ``h(u, v, g(the others))`` if that is possible. The function g remains a LUT.
The split is made where g replaces several LUTs, or where several summands can use the same g.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any

from tabla.build.synth.cone import Cone, Part, Split, splits
from tabla.build.synth.wires import Cell, Wires

# The LUT4 that Yosys makes for an adder: a ^ b ^ c while D is high, and A in the quarter where C and D are low. If C is
# high, the cell subtracts b.
_ADDS = f"{0x96AA:016b}"

Pins = tuple[Any, Any, Any]
Table = Mapping[tuple[int, int, int], int]


def fold_into_carries(module: dict[str, Any]) -> int:
    """Rewrite a flat ECP5 module in place and return the number of LUT4s that were saved."""
    cells: dict[str, Cell] = module["cells"]
    before = _luts(cells)
    folding = _Folding(wires=Wires.of(module))
    halves = [(name, half) for name, cell in cells.items() if cell["type"] == "CCU2C" for half in "01"]
    left = [place for place in halves if not folding.fold(*place) and not folding.take_apart(*place, shared=False)]
    for place in left:
        folding.count(*place)
    for place in left:
        folding.take_apart(*place, shared=True)
    return before - _luts(cells)


def _luts(cells: Mapping[str, Cell]) -> int:
    return sum(cell["type"] == "LUT4" for cell in cells.values())


@dataclass(slots=True, kw_only=True)
class _Folding:
    """The state of the rewriting.

    `left` gives the wire that each remaining g drives. `wanted` counts the summands that could use each g.
    """

    wires: Wires
    left: dict[Part, int] = field(default_factory=dict)
    wanted: Counter[Part] = field(default_factory=Counter)

    def fold(self, name: str, half: str) -> bool:
        """Move logic of up to three inputs into a half of a cell. Return whether that was possible."""
        for summand, other, sense in self._summands(name, half):
            for cone in Cone.growing(self.wires, summand):
                placed = _placed(cone.inputs, cone, sense) if len(cone.inputs) <= 3 else None
                if placed:
                    self._set(name, half, other, *placed)
                    for cell in cone.cells:
                        self.wires.drop(cell)
                    return True
        return False

    def take_apart(self, name: str, half: str, *, shared: bool) -> bool:
        """Split a summand, move its h into a half of a cell, and leave its g as a LUT. Return whether that was done.

        A split is made if g is there already or replaces several LUTs. With `shared`, the second condition is that
        several summands can use the same g.
        """
        for summand, other, sense in self._summands(name, half):
            for cone, split, placed in self._choices(summand, sense):
                luts = sum(self.wires.cells[cell]["type"] == "LUT4" for cell in cone.cells)
                if split.part in self.left or (self.wanted[split.part] > 1 if shared else luts > 1):
                    g = self._leave(cone, split.part)
                    pins, table = placed
                    self._set(name, half, other, tuple(g if pin is None else pin for pin in pins), table)  # type: ignore[arg-type]
                    return True
        return False

    def count(self, name: str, half: str) -> None:
        """Count each g that a half of a cell could use."""
        for summand, _, sense in self._summands(name, half):
            self.wanted.update({split.part for _, split, _ in self._choices(summand, sense)})

    def _summands(self, name: str, half: str) -> Iterator[tuple[Any, Any, int]]:
        """Yield each summand of a half of a cell that is a plain adder, with the other summand.

        The third value is 1 if the complement of the first summand is added, else 0.
        """
        cell = self.wires.cells[name]
        a, b, c, d = (cell["connections"][f"{pin}{half}"][0] for pin in "ABCD")
        if cell["parameters"][f"INIT{half}"] != _ADDS or d != "1" or c not in ("0", "1"):
            return
        yield b, a, int(c)
        if c == "0":
            yield a, b, 0
        elif b in ("0", "1"):
            yield a, "10"[int(b)], 0

    def _choices(self, summand: Any, sense: int) -> Iterator[tuple[Cone, Split, tuple[Pins, Table]]]:
        """Yield the ways to split a summand whose h fits into the cell. None among the pins of h stands for g."""
        for cone in Cone.growing(self.wires, summand):
            for split in splits(cone):
                placed = _placed((*split.outer, None), lambda *levels, h=split.h: h[levels], sense)
                if placed:
                    yield cone, split, placed

    def _leave(self, cone: Cone, part: Part) -> int:
        """Remove the LUTs of a cone and return the wire that carries g.

        One LUT of the cone remains and computes g, unless g is computed elsewhere already.
        """
        wires = self.wires
        cells = list(cone.cells)
        kept = next(cell for cell in cells if wires.cells[cell]["type"] == "LUT4")
        for cell in cells:
            if cell != kept or part in self.left:
                wires.drop(cell)
        if part not in self.left:
            lut = wires.cells[kept]
            for pin, bit in zip("ABCD", (*reversed(part.inputs), *"0000"), strict=False):
                wires.connect(kept, pin, bit)
            # Entry n of a LUT is its value for the levels that are the bits of n, with A the lowest bit. Unused pins
            # are low.
            lut["parameters"]["INIT"] = "".join(map(str, reversed(part.values))).rjust(16, "0")
            self.left[part] = lut["connections"]["Z"][0]
        return self.left[part]

    def _set(self, name: str, half: str, other: Any, pins: Pins, table: Table) -> None:
        """Make a half of a cell add `other` and the function `table` of the pins B, C and D."""
        init = 0
        for place, (high, middle, low, first) in enumerate(product((0, 1), repeat=4)):
            init |= (first ^ table[low, middle, high]) << place
        self.wires.cells[name]["parameters"][f"INIT{half}"] = f"{init:016b}"
        for pin, bit in zip("ABCD", (other, *pins), strict=True):
            self.wires.connect(name, f"{pin}{half}", bit)


def _placed(inputs: tuple[Any, ...], function: Callable[..., int], sense: int) -> tuple[Pins, Table] | None:
    """Return the wires for B, C and D, and the value of a function for all levels of these pins.

    With `sense` 1 the values are complemented. The answer is None if the function does not fit, see the module.
    """
    if len(inputs) < 3:
        absent = 2 - len(inputs)
        table = {
            (x, y, z): function(*(x, y)[: len(inputs)]) ^ sense if z else 0 for x, y, z in product((0, 1), repeat=3)
        }
        pins = [*inputs, *("0",) * absent]
        return (pins[0], pins[1], "1"), table
    for order in permutations(range(3)):
        table = {
            (x, y, z): function(*((x, y, z)[order.index(place)] for place in range(3))) ^ sense
            for x, y, z in product((0, 1), repeat=3)
        }
        if not table[0, 0, 0] and not table[1, 0, 0]:
            return (inputs[order[0]], inputs[order[1]], inputs[order[2]]), table
    return None

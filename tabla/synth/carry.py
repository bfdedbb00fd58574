"""Logic in front of an ECP5 carry chain, into the chain: its cells have two inputs that Yosys leaves unused.

A half of a CCU2C adds with a LUT4 for "propagate", ``a ^ b``, and that LUT's first quarter (C and D low), which sees A
and B only, for "generate". Yosys uses A and B. Where one summand comes from a LUT of up to three inputs that nobody
else reads, ``a ^ h(u, v, w)`` fits into the LUT4: with a in A, "generate" is A, and the first quarter must be A too.
That is so if h has two inputs (D is tied high then), or if h is 0 whenever two of its inputs, put in C and D, are.
An accumulator, ``a + ((sum & keep) ^ start)``, so needs no logic but its chain.

A summand of more inputs is taken apart into ``h(u, v, g(the others))`` if it can be. The g stays a LUT: worth it where
it takes the place of several, or where many summands share one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any

from tabla.synth.cone import Cone, Part, Split, splits
from tabla.synth.wires import Cell, Wires

# a ^ b ^ c while D is high, and A in the quarter where C and D are low: what Yosys makes of an adder; a high C
# subtracts b.
_ADDS = f"{0x96AA:016b}"

Pins = tuple[Any, Any, Any]
Table = Mapping[tuple[int, int, int], int]


def fold_into_carries(module: dict[str, Any]) -> int:
    """Rewrite a flat ECP5 module in place; returns how many LUT4 it has less."""
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
    """The netlist, where each g that was left is driven, and how many summands could share a g."""

    wires: Wires
    left: dict[Part, int] = field(default_factory=dict)
    wanted: Counter[Part] = field(default_factory=Counter)

    def fold(self, name: str, half: str) -> bool:
        """Take logic of up to three inputs into a half of a cell."""
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
        """Take h into a half of a cell if g replaces several LUTs; with `shared`, if several summands want that g."""
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
        """Note which g a half could use."""
        for summand, _, sense in self._summands(name, half):
            self.wanted.update({split.part for _, split, _ in self._choices(summand, sense)})

    def _summands(self, name: str, half: str) -> Iterator[tuple[Any, Any, int]]:
        """Each summand of a plain half, the other one, and whether the first one's complement is added."""
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
        """How a summand can be taken apart so that h fits; None among h's pins stands for g."""
        for cone in Cone.growing(self.wires, summand):
            for split in splits(cone):
                placed = _placed((*split.outer, None), lambda *levels, h=split.h: h[levels], sense)
                if placed:
                    yield cone, split, placed

    def _leave(self, cone: Cone, part: Part) -> int:
        """Remove a cone but for a LUT with g, or with that too if there is one already; returns where g is driven."""
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
            # Entry n of a LUT stands for the levels that are the bits of n, A the lowest; unused pins are low.
            lut["parameters"]["INIT"] = "".join(map(str, reversed(part.values))).rjust(16, "0")
            self.left[part] = lut["connections"]["Z"][0]
        return self.left[part]

    def _set(self, name: str, half: str, other: Any, pins: Pins, table: Table) -> None:
        """Add what `table` says of the pins B, C, D to `other`."""
        init = 0
        for place, (high, middle, low, first) in enumerate(product((0, 1), repeat=4)):
            init |= (first ^ table[low, middle, high]) << place
        self.wires.cells[name]["parameters"][f"INIT{half}"] = f"{init:016b}"
        for pin, bit in zip("ABCD", (other, *pins), strict=True):
            self.wires.connect(name, f"{pin}{half}", bit)


def _placed(inputs: tuple[Any, ...], function: Callable[..., int], sense: int) -> tuple[Pins, Table] | None:
    """What B, C and D get, and the function's value (with `sense` its complement) by their levels; None if unfit."""
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

"""Logic in front of an ECP5 carry chain, into the chain: its cells have two inputs that Yosys leaves unused.

A half of a CCU2C adds with a LUT4 for "propagate", ``a ^ b``, and that LUT's first quarter (C and D low), which sees A
and B only, for "generate". Yosys uses A and B. Where one summand comes from a LUT of up to three inputs that nobody
else reads, ``a ^ h(u, v, w)`` fits into the LUT4: with a in A, "generate" is A, and the first quarter must be A too.
That is so if h has two inputs (D is tied high then), or if h is 0 whenever two of its inputs, put in C and D, are.
An accumulator, ``a + ((sum & keep) ^ start)``, so needs no logic but its chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations, product
from typing import Any

from tabla.synth.wires import Cell, Wires

# a ^ b while C is low and D high, and A in the quarter where both are low: what Yosys makes of an adder.
_ADDS = f"{0x96AA:016b}"


def fold_into_carries(module: dict[str, Any]) -> int:
    """Rewrite a flat ECP5 module in place; returns how many LUT4 it has less."""
    cells: dict[str, Cell] = module["cells"]
    before = len(cells)
    wires = Wires.of(module)
    for name in list(cells):
        if name in cells and cells[name]["type"] == "CCU2C":
            for half in "01":
                _fold(wires, name, half)
    return before - len(cells)


def _fold(wires: Wires, name: str, half: str) -> None:
    """One half of a cell."""
    cell = wires.cells[name]
    pins = cell["connections"]
    a, b, c, d = (pins[f"{pin}{half}"][0] for pin in "ABCD")
    if cell["parameters"][f"INIT{half}"] != _ADDS or (c, d) != ("0", "1"):
        return
    for summand, other in ((b, a), (a, b)):
        lut = _only_for(wires, summand)
        placed = _placed(wires.cells[lut]) if lut else None
        if lut is None or placed is None:
            continue
        inputs, table = placed
        init = 0
        for place, (high, middle, low, first) in enumerate(product((0, 1), repeat=4)):
            init |= (first ^ table[low, middle, high]) << place
        cell["parameters"][f"INIT{half}"] = f"{init:016b}"
        for pin, bit in zip("ABCD", (other, *inputs), strict=True):
            wires.connect(name, f"{pin}{half}", bit)
        wires.drop(lut)
        return


def _only_for(wires: Wires, bit: Any) -> str | None:
    """The LUT that drives a wire for one reader alone."""
    driver = wires.driver.get(bit) if isinstance(bit, int) else None
    if driver is None or wires.cells[driver]["type"] != "LUT4":
        return None
    return driver if len(wires.readers.get(bit, ())) == 1 and not wires.kept[bit] else None


Table = Mapping[tuple[int, int, int], int]


def _placed(lut: Cell) -> tuple[tuple[Any, Any, Any], Table] | None:
    """What B, C and D get, and the LUT's value by their levels; None if it does not fit."""
    bits = {pin: lut["connections"].get(pin, ["0"])[0] for pin in "ABCD"}
    bits = {pin: "0" if bit == "x" else bit for pin, bit in bits.items()}
    free = [pin for pin, bit in bits.items() if isinstance(bit, int)]
    init = int(lut["parameters"]["INIT"], 2)
    if len(free) > 3:
        return None

    def value(levels: Mapping[str, int]) -> int:
        return (init >> sum(levels.get(pin, int(bits[pin] == "1")) << place for place, pin in enumerate("ABCD"))) & 1

    if len(free) < 3:
        low, middle = (*free, None, None)[:2]
        table = {
            (x, y, z): value({pin: level for pin, level in ((low, x), (middle, y)) if pin}) if z else 0
            for x, y, z in product((0, 1), repeat=3)
        }
        return (bits[low] if low else "0", bits[middle] if middle else "0", "1"), table
    for order in permutations(free):
        table = {(x, y, z): value(dict(zip(order, (x, y, z), strict=True))) for x, y, z in product((0, 1), repeat=3)}
        if not table[0, 0, 0] and not table[1, 0, 0]:
            return (bits[order[0]], bits[order[1]], bits[order[2]]), table
    return None

"""Moving flip-flops into the registers of ECP5 blocks, which Yosys leaves unused.

The multiplier MULT18X18D has registers for both operands and for the product, and the block RAM DP16KD has a register
behind the output of each port. These registers cost no area, and they are several nanoseconds faster than flip-flops
outside the block. This module rewrites the flat netlist: a flip-flop in front of or behind a block moves into it. The
values in every cycle stay the same. A flip-flop with a reset, or one that starts as 1, is not moved. One with an enable
only moves behind a block RAM, and only where the block RAM itself is enabled whenever the flip-flop is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tabla.build.synth.cone import implies
from tabla.build.synth.wires import Cell, Wires, enable


def _before(wires: Wires, cell: Cell, pins: Iterable[str]) -> tuple[int, dict[str, int]] | None:
    """Return the clock of the registers in front of the pins, and the wire that each pin would get instead.

    The answer is None if a pin has no register that can be moved, or if the registers have different clocks.
    """
    clocks, moved = set(), {}
    for pin in pins:
        bit = cell["connections"][pin][0]
        if bit in ("0", "x"):
            continue
        register = wires.register(wires.driver[bit]) if bit in wires.driver else None
        if register is None or register["connections"]["Q"] != [bit]:
            return None
        clocks.add(register["connections"]["CLK"][0])
        moved[pin] = register["connections"]["DI"][0]
    return (clocks.pop(), moved) if len(clocks) == 1 else None


def _behind(
    wires: Wires, cell: Cell, pins: Iterable[str], *, enabled: bool = False
) -> tuple[int, Any, dict[str, int]] | None:
    """Return the clock and the enable of the registers behind the pins, and the wire that each pin would drive instead.

    The answer is None if anything but a register that can be moved reads a pin, or if the clocks or the enables differ.
    Registers with an enable can only be moved if they may be `enabled`; the enable of others is ``1``.
    """
    controls, moved = set(), {}
    for pin in pins:
        bit = cell["connections"].get(pin, ["x"])[0]
        readers = wires.readers.get(bit, [])
        if not readers and not wires.kept[bit]:
            continue
        single = len(readers) == 1 and not wires.kept[bit]
        register = wires.register(readers[0], enabled=enabled) if single else None
        if register is None or register["connections"]["DI"] != [bit]:
            return None
        controls.add((register["connections"]["CLK"][0], enable(register)))
        moved[pin] = register["connections"]["Q"][0]
    return (*controls.pop(), moved) if len(controls) == 1 else None


def _multiplier(wires: Wires, name: str) -> None:
    """Move the registers in front of and behind a multiplier into it."""
    cell = wires.cells[name]
    operands = [_before(wires, cell, [f"{side}{bit}" for bit in range(18)]) for side in "AB"]
    product = _behind(wires, cell, [f"P{bit}" for bit in range(36)])
    # The block is no faster with only one operand in its registers. All its registers get the same clock.
    clocks = {place[0] for place in (*operands, product) if place}
    if None in operands or len(clocks) != 1:
        return
    for side, operand in zip("AB", operands, strict=True):
        assert operand is not None
        wires.move_inputs(name, operand[1])
        cell["parameters"][f"REG_INPUT{side}_CLK"] = "CLK0"
    if product:
        wires.take_outputs(name, product[2])
        cell["parameters"]["REG_OUTPUT_CLK"] = "CLK0"
    _tie(cell, {"CLK0": clocks.pop(), "CE0": "1", "RST0": "0"})
    cell["parameters"]["GSR"] = "DISABLED"


def _memory(wires: Wires, name: str) -> None:
    """Move the registers behind each port of a block RAM into it."""
    cell = wires.cells[name]
    for port in "AB":
        # A word of more than 18 bits leaves through both ports, and its register cannot be moved.
        if int(cell["parameters"].get(f"DATA_WIDTH_{port}", "0"), 2) > 18:
            return
        _write_mode(wires, cell, port)
        behind = _behind(wires, cell, [f"DO{port}{bit}" for bit in range(18)], enabled=True)
        # The memory guide does not say whether the output register also obeys the enable of the port, so it must not
        # matter.
        if not behind or not implies(wires, behind[1], cell["connections"].get(f"CE{port}", ["1"])[0]):
            continue
        if cell["connections"].get(f"CLK{port}") != [behind[0]]:
            continue
        if cell["connections"].get(f"RST{port}", ["0"]) != ["0"] or cell["parameters"][f"REGMODE_{port}"] != "NOREG":
            continue
        wires.take_outputs(name, behind[2])
        cell["parameters"][f"REGMODE_{port}"] = "OUTREG"
        _tie(cell, {f"OCE{port}": behind[1]})


def _write_mode(wires: Wires, cell: Cell, port: str) -> None:
    """Set the write mode of a port to normal if the port only writes or only reads.

    Such a port behaves the same in every mode. Yosys chooses the mode that reads before it writes, in which the block
    has a much lower maximum clock rate: 155 MHz in speed grade 6.
    """
    pins = [bit for place in range(18) for bit in cell["connections"].get(f"DO{port}{place}", ())]
    read = any(wires.readers.get(bit) or wires.kept[bit] for bit in pins if isinstance(bit, int))
    written = cell["connections"].get(f"WE{port}", ["0"]) != ["0"]
    if not (read and written):
        cell["parameters"][f"WRITEMODE_{port}"] = "NORMAL"


def _tie(cell: Cell, pins: Mapping[str, Any]) -> None:
    for pin, bit in pins.items():
        cell["connections"][pin] = [bit]
        cell["port_directions"][pin] = "input"


def absorb_registers(module: dict[str, Any]) -> int:
    """Rewrite a flat ECP5 module in place and return the number of flip-flops that were saved."""
    cells: dict[str, Cell] = module["cells"]
    before = len(cells)
    wires = Wires.of(module)
    for name in list(cells):
        match cells[name]["type"] if name in cells else "":
            case "MULT18X18D":
                _multiplier(wires, name)
            case "DP16KD":
                _memory(wires, name)
    _drop_unread(cells, wires.kept)
    return before - len(cells)


def _drop_unread(cells: dict[str, Cell], kept: Mapping[int, int]) -> None:
    """Remove the flip-flops that nothing reads any more."""
    read = set(Wires(cells=cells).readers)
    for name, cell in list(cells.items()):
        if cell["type"] == "TRELLIS_FF":
            bit = cell["connections"]["Q"][0]
            if bit not in read and not kept[bit]:
                del cells[name]

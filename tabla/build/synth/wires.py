"""The drivers and the readers of the wires of a flat netlist, kept up to date while cells are changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Cell = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Wires:
    """The wires of a netlist.

    A wire is a number, as in Yosys' JSON; the texts ``0``, ``1`` and ``x`` stand for constant levels. `driver` is the
    cell that drives each wire, `readers` are the cells that read it, one entry for each input pin, and `kept` counts
    the ports of the module that show it.
    """

    cells: dict[str, Cell]
    driver: dict[int, str] = field(default_factory=dict)
    readers: dict[int, list[str]] = field(default_factory=dict)
    kept: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                for bit in bits:
                    if not isinstance(bit, int):
                        continue
                    if cell["port_directions"].get(port) == "output":
                        self.driver[bit] = name
                    else:
                        self.readers.setdefault(bit, []).append(name)

    @staticmethod
    def of(module: Mapping[str, Any]) -> Wires:
        """Return the wires of a module in Yosys' JSON. The wires of its ports are kept."""
        wires = Wires(cells=module["cells"])
        for port in module["ports"].values():
            wires.kept.update(bit for bit in port["bits"] if isinstance(bit, int))
        return wires

    def connect(self, name: str, pin: str, bit: Any) -> None:
        """Connect an input pin to another wire, or to a constant level."""
        before = self.cells[name]["connections"][pin][0]
        if isinstance(before, int):
            self.readers[before].remove(name)
        if isinstance(bit, int):
            self.readers.setdefault(bit, []).append(name)
        self.cells[name]["connections"][pin] = [bit]

    def move_inputs(self, name: str, pins: Mapping[str, int]) -> None:
        """Connect input pins of a cell to other wires."""
        connections = self.cells[name]["connections"]
        for pin, bit in pins.items():
            self.readers[connections[pin][0]].remove(name)
            self.readers.setdefault(bit, []).append(name)
            connections[pin] = [bit]

    def take_outputs(self, name: str, pins: Mapping[str, int]) -> None:
        """Let output pins of a cell drive the outputs of the registers behind them, and remove these registers."""
        connections = self.cells[name]["connections"]
        for pin, bit in pins.items():
            (register,) = self.readers.pop(connections[pin][0])
            del self.cells[register]
            self.driver[bit] = name
            connections[pin] = [bit]

    def drop(self, name: str) -> None:
        """Remove a cell whose outputs nothing reads."""
        for port, bits in self.cells[name]["connections"].items():
            if self.cells[name]["port_directions"].get(port) != "output":
                for bit in bits:
                    if isinstance(bit, int):
                        self.readers[bit].remove(name)
        del self.cells[name]

    def register(self, name: str, *, enabled: bool = False) -> Cell | None:
        """Return the cell if it is a flip-flop that starts as 0 and has no reset; otherwise None.

        It also has no enable, unless it may be `enabled`.
        """
        cell = self.cells[name]
        plain = (
            cell["type"] == "TRELLIS_FF"
            and cell["parameters"].get("REGSET", "RESET") == "RESET"
            and cell["parameters"].get("CLKMUX", "CLK") == "CLK"
            and (enable(cell) == "1" or (enabled and cell["parameters"]["CEMUX"].strip() == "CE"))
            and cell["connections"].get("LSR", ["0"]) == ["0"]
            and "M" not in cell["connections"]
        )
        return cell if plain else None


def enable(flip_flop: Cell) -> Any:
    """Return the wire of a flip-flop's enable, or ``1`` if it has none."""
    if flip_flop["parameters"].get("CEMUX", "CE").strip() == "1":
        return "1"
    return flip_flop["connections"]["CE"][0]

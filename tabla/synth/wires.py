"""Who drives and who reads the wires of a flat netlist, kept right while cells are changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Cell = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Wires:
    """Who drives a bit, and how many inputs and ports it feeds."""

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
        """Of a module; what its ports show is kept."""
        wires = Wires(cells=module["cells"])
        for port in module["ports"].values():
            wires.kept.update(bit for bit in port["bits"] if isinstance(bit, int))
        return wires

    def connect(self, name: str, pin: str, bit: Any) -> None:
        """Connect one input pin elsewhere: to a wire, or to a level."""
        before = self.cells[name]["connections"][pin][0]
        if isinstance(before, int):
            self.readers[before].remove(name)
        if isinstance(bit, int):
            self.readers.setdefault(bit, []).append(name)
        self.cells[name]["connections"][pin] = [bit]

    def move_inputs(self, name: str, pins: Mapping[str, int]) -> None:
        """Connect input pins of a cell elsewhere."""
        connections = self.cells[name]["connections"]
        for pin, bit in pins.items():
            self.readers[connections[pin][0]].remove(name)
            self.readers.setdefault(bit, []).append(name)
            connections[pin] = [bit]

    def take_outputs(self, name: str, pins: Mapping[str, int]) -> None:
        """Let output pins of a cell drive the wires of the registers behind them, and remove those."""
        connections = self.cells[name]["connections"]
        for pin, bit in pins.items():
            (register,) = self.readers.pop(connections[pin][0])
            del self.cells[register]
            self.driver[bit] = name
            connections[pin] = [bit]

    def drop(self, name: str) -> None:
        """Remove a cell that nobody reads."""
        for port, bits in self.cells[name]["connections"].items():
            if self.cells[name]["port_directions"].get(port) != "output":
                for bit in bits:
                    if isinstance(bit, int):
                        self.readers[bit].remove(name)
        del self.cells[name]

    def register(self, name: str) -> Cell | None:
        """The cell if it is a flip-flop without enable and reset that starts as 0."""
        cell = self.cells[name]
        plain = (
            cell["type"] == "TRELLIS_FF"
            and cell["parameters"].get("REGSET", "RESET") == "RESET"
            and cell["parameters"].get("CLKMUX", "CLK") == "CLK"
            and cell["parameters"].get("CEMUX", "CE").strip() == "1"
            and cell["connections"].get("LSR", ["0"]) == ["0"]
            and "M" not in cell["connections"]
        )
        return cell if plain else None

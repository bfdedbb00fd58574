"""nextpnr's critical path in the names of our signals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tabla.synth.source_lines import SourceLines

# What Yosys appends to the name of a signal for the cells and wires that it makes around it: `sum_LUT4_Z_D[3]`.
_MADE = re.compile(r"(_[A-Z][A-Z0-9]*)(_[A-Z0-9]+)*(?=\[|$)")
_INDEX = re.compile(r"\[\d+\]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A part of the path: `kind` is nextpnr's (clk-to-q, routing, logic, setup), `delay` in ns.

    `signal` is the wire that is routed, or what the logic, register or block computes; `fan_out` counts the wire's
    sinks (0 where that is not known).
    """

    kind: str
    delay: float
    signal: str
    cell: str
    fan_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalPath:
    """The slowest path between two registers of a clock, delays in ns."""

    start: str
    end: str
    hops: tuple[Hop, ...]

    @property
    def delay(self) -> float:
        """From clock edge to clock edge."""
        return sum(hop.delay for hop in self.hops)

    @property
    def routing(self) -> float:
        """Spent in wires."""
        return sum(hop.delay for hop in self.hops if hop.kind == "routing")

    @property
    def depth(self) -> int:
        """Ranks of logic that a wire of some length leads to; a carry chain is one."""
        return sum(
            1
            for before, hop in zip(self.hops, self.hops[1:], strict=False)
            if hop.kind == "logic" and before.kind == "routing" and before.delay > 0
        )

    def text(self, lines: SourceLines | None = None) -> str:
        """A line for each wire and what it leads to, carry chains drawn together, with the place of each new signal."""
        figures = f"{self.delay:.2f} ns, {self.routing:.2f} ns of them wires, {self.depth} ranks of logic"
        written, told = [f"{self.start} -> {self.end}: {figures}"], ""
        for hop in self.hops:
            if hop.delay >= 0.1:
                reach = f", {hop.fan_out} sinks" if hop.fan_out > 1 else ""
                place = lines.place(hop.signal) if lines and hop.signal != told else ""
                told = hop.signal
                written.append(f"  {hop.delay:5.2f}  {hop.kind:<8}  {hop.signal}{reach}" + (f"  {place}" * bool(place)))
        return "\n".join(written)


def signal_name(name: str) -> str:
    """The name of our signal that a cell or wire was made for: ``lane_0.mac.sum_LUT4_Z_D[3]`` -> ``lane_0.mac.sum``."""
    plain = name.split("$")[0] or name
    index = _INDEX.search(plain)
    signal = _MADE.sub("", plain)
    return signal if signal == plain or not index else _INDEX.sub("", signal)


def fan_outs(module: Mapping[str, Any]) -> dict[str, int]:
    """Sinks of each wire, by name as nextpnr writes it, from the flat netlist."""
    sinks: Counter[int] = Counter()
    for cell in module["cells"].values():
        for port, bits in cell["connections"].items():
            if cell.get("port_directions", {}).get(port) == "input":
                sinks.update(bit for bit in bits if isinstance(bit, int))
    found = {}
    for name, wire in module["netnames"].items():
        bits = wire["bits"]
        offset = wire.get("offset", 0)
        for place, bit in enumerate(bits):
            found[name if len(bits) == 1 else f"{name}[{place + offset}]"] = sinks.get(bit, 0)
    return found


def critical_path(report: Mapping[str, Any], clock: str, sinks: Mapping[str, int]) -> CriticalPath | None:
    """The path of `clock` to itself in nextpnr's report; None if there is none.

    Names that belong to no signal of ours stay with the nearest that did, on the way from the start.
    """
    edges = {f"posedge {clock}", f"negedge {clock}"}
    for path in report["critical_paths"]:
        if path["from"] in edges and path["to"] in edges:
            break
    else:
        return None
    hops, known = [], "?"
    for hop in path["path"]:
        made = hop.get("net") or hop["to"]["cell"]
        known = signal_name(made) if not made.startswith("$") else known
        hops.append(
            Hop(
                kind=hop["type"],
                delay=float(hop["delay"]),
                signal=known,
                cell=hop["to"]["cell"],
                fan_out=sinks.get(hop.get("net", ""), 0),
            )
        )
    return CriticalPath(start=hops[0].signal, end=signal_name(hops[-1].cell), hops=tuple(hops))

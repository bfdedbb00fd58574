"""The critical path that nextpnr reports, in the names of the signals of the hardware description."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tabla.build.synth.source_lines import SourceLines

# The suffix that Yosys appends to the name of a signal for cells and wires that it makes, as in `sum_LUT4_Z_D[3]`.
_MADE = re.compile(r"(_[A-Z][A-Z0-9]*)(_[A-Z0-9]+)*(?=\[|$)")
_INDEX = re.compile(r"\[\d+\]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A part of a critical path.

    `kind` is one of nextpnr's words ``clk-to-q``, ``routing``, ``logic`` and ``setup``. `delay` is in nanoseconds.
    `signal` is the wire that is routed, or the output of the logic, register or block. `fan_out` is the number of
    inputs that the wire leads to, or 0 if that is not known.
    """

    kind: str
    delay: float
    signal: str
    cell: str
    fan_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalPath:
    """The slowest path between two registers of a clock."""

    start: str
    end: str
    hops: tuple[Hop, ...]

    @property
    def delay(self) -> float:
        """The delay from clock edge to clock edge, in nanoseconds."""
        return sum(hop.delay for hop in self.hops)

    @property
    def routing(self) -> float:
        """The part of the delay that is spent in wires, in nanoseconds."""
        return sum(hop.delay for hop in self.hops if hop.kind == "routing")

    @property
    def depth(self) -> int:
        """The number of ranks of logic. A rank begins where a routed wire ends, so a carry chain is one rank."""
        return sum(
            1
            for before, hop in zip(self.hops, self.hops[1:], strict=False)
            if hop.kind == "logic" and before.kind == "routing" and before.delay > 0
        )

    def text(self, lines: SourceLines | None = None) -> str:
        """Return the path as text, with a line for each hop of at least 0.1 ns.

        With `lines`, the place that declares a signal is shown where the signal first occurs.
        """
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
    """Return the name of the signal for which Yosys made a cell or a wire.

    For example ``lane_0.mac.sum_LUT4_Z_D[3]`` gives ``lane_0.mac.sum``.
    """
    plain = name.split("$")[0] or name
    index = _INDEX.search(plain)
    signal = _MADE.sub("", plain)
    return signal if signal == plain or not index else _INDEX.sub("", signal)


def fan_outs(module: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of inputs that each wire of a flat netlist leads to, by the name that nextpnr has for it."""
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
    """Return the critical path from `clock` to the same clock, from nextpnr's report; None if there is none.

    A hop whose wire belongs to no signal of the hardware description gets the signal of the hop before it.
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

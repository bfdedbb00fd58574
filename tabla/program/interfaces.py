"""The interfaces of the wrapper for a host's bus, as block designs name them: IP-XACT and Vivado's attributes.

The names of kinds and signals are those of Vivado's own library (``xilinx.com``), which other tools know, too. A clock
has no fixed frequency: a block design gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tabla.program.bus import BusShape

_STREAM = ("tdata", "tkeep", "tvalid", "tready", "tlast")
_LITE = (
    *("awaddr", "awprot", "awvalid", "awready", "wdata", "wstrb", "wvalid", "wready", "bresp", "bvalid", "bready"),
    *("araddr", "arprot", "arvalid", "arready", "rdata", "rresp", "rvalid", "rready"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BusInterface:
    """Ports that belong together. `ports` has the signal of the kind for each port; `slave` says who drives it."""

    name: str
    library: str
    kind: str
    slave: bool
    ports: Mapping[str, str]
    parameters: Mapping[str, str]


def bus_interfaces(shape: BusShape) -> tuple[BusInterface, ...]:
    """Return the interfaces of the wrapper: two streams, control, clock, reset and interrupt."""
    stream = {"TDATA_NUM_BYTES": str(shape.bus_bits // 8), "HAS_TKEEP": "1", "HAS_TLAST": "1", "HAS_TREADY": "1"}
    lite = {"PROTOCOL": "AXI4LITE", "DATA_WIDTH": "32", "ADDR_WIDTH": "12"}
    clock = {"ASSOCIATED_BUSIF": "s_axis:m_axis:s_axil", "ASSOCIATED_RESET": "aresetn"}
    return (
        _signal("aclk", "clock", "CLK", slave=True, parameters=clock),
        _signal("aresetn", "reset", "RST", slave=True, parameters={"POLARITY": "ACTIVE_LOW"}),
        _signal("interrupt", "interrupt", "INTERRUPT", slave=False, parameters={"SENSITIVITY": "LEVEL_HIGH"}),
        _bus("s_axis", "axis", _STREAM, slave=True, parameters=stream),
        _bus("m_axis", "axis", _STREAM, slave=False, parameters=stream),
        _bus("s_axil", "aximm", _LITE, slave=True, parameters=lite),
    )


def _signal(name: str, kind: str, signal: str, *, slave: bool, parameters: Mapping[str, str]) -> BusInterface:
    return BusInterface(
        name=name, library="signal", kind=kind, slave=slave, ports={name: signal}, parameters=parameters
    )


def _bus(name: str, kind: str, signals: tuple[str, ...], *, slave: bool, parameters: Mapping[str, str]) -> BusInterface:
    ports = {f"{name}_{signal}": signal.upper() for signal in signals}
    return BusInterface(name=name, library="interface", kind=kind, slave=slave, ports=ports, parameters=parameters)

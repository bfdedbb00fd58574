"""Small designs that together contain every component of ``hw/``, each with most of what it can be built with.

Tests hold the ports and the price of these designs against a golden file. Mutation testing asks whether a change of a
source changes any of them: ``python -m tests.hw.designs FOLDER`` writes the Verilog of all.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

import tabla
from tabla.hw.board.top import BoardTop
from tabla.hw.bus.axi import AxiWrapper
from tabla.hw.emit import Netlist, _rtlil, _verilog, hardware_of
from tabla.hw.netlist import modules_of
from tabla.hw.overlay.axi import OverlayWrapper
from tabla.hw.sharing import Emission
from tabla.program.bus import BusShape
from tabla.program.encode import encode
from tabla.program.image import Image
from tabla.program.overlay import Overlay, OverlayBus, overlay_of
from tabla.schedule.compile import schedule_graph
from tabla.templates.pll import settings_of
from tabla.templates.targets import board, target
from tabla.templates.template import presets, template_for
from tests.end_to_end.test_several_roots_port import softmax
from tests.hw.test_function_pipelines import tables
from tests.schedule.agreement import MANY_ROOTS, Q6_10
from tests.sim.hand_assembler import parameters
from tests.sim.hand_images import function_program, linear
from tests.sim.random_images import random_case
from tests.small_overlay import ROOM

LAYER = """mu = 0.0625;
model_input x[4]; model_output y[8]; model w[8][4], b[8];
gradient gw[8][4] -> w, gb[8] -> b;
iterator i[0:4]; iterator k[0:8];
h[k] = sigmoid(sum[i](w[k][i] * x[i]) + b[k]);
e[k] = h[k] - y[k];
gw[k][i] = e[k] * x[i];
gb[k] = e[k];
"""
"""A layer whose sums of rows are computed at several roots, if there are any."""
NEURON = """mu = 0.0625;
model_input x[2]; model_output y; model w[2], b;
gradient gw[2] -> w, gb -> b;
iterator i[0:2];
h = sum[i](w[i] * x[i]) + b;
e = h - y;
gw[i] = e * x[i];
gb = e;
"""
"""A neuron whose bias is updated at the root."""


def _compiled(text: str, file: str = "unit.t", **options: Any) -> Image:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.write_text(text, encoding="utf-8")
        return tabla.compile(path, effort=0, **options).image


def _softmax() -> Image:
    """Return a softmax of four rows on two roots: extremes, exponentials and quotients."""
    return encode(schedule_graph(softmax(4, 4), template_for(8).with_roots(2), Q6_10, MANY_ROOTS))


def _functions() -> Image:
    """Return a program with every function of the root."""
    return function_program([made for made, _ in tables(parameters(1))], [1, 2]).image


def _board(content: Image | Overlay, name: str, megahertz: float) -> BoardTop:
    """Return the top of a board; a rate other than the crystal's needs the board's PLL."""
    found = board(name)
    limits = target(found.target).pll
    rates = settings_of(limits, found.clock_hertz) if limits else ()
    settings = next((one for one in rates if one.hertz == megahertz * 1e6), None)
    return BoardTop(image=content, accelerator="array", board=found, settings=settings, divisor=27, memory=1 << 20)


def _wrapper(image: Image, bus_bits: int) -> AxiWrapper:
    return AxiWrapper(image=image, shape=BusShape.of(image, bus_bits=bus_bits, dump_count=2), accelerator="array")


def _overlay(bus: OverlayBus | None = None) -> Overlay:
    return overlay_of(presets()["Pe2"], ROOM, bus)


def _overlay_wrapper() -> OverlayWrapper:
    bus = OverlayBus(bits=64, step_words=12)
    overlay = _overlay(bus)
    return OverlayWrapper(overlay=overlay, shape=BusShape.of_overlay(overlay, bus), accelerator="array")


DESIGNS: Mapping[str, Callable[[], wiring.Component]] = {
    # An array of two groups that can be stopped.
    "linear": lambda: hardware_of(linear(4, pes_per_pu=2).image, stoppable=True),
    "functions": lambda: hardware_of(_functions()),
    # Extremes, and every operand of a lane.
    "random": lambda: hardware_of(random_case(3).image),
    "roots-and-guards": lambda: hardware_of(_compiled(LAYER, pes=8, pes_per_pu=4, model_guard=4, results=("h",))),
    "roots-and-extremes": lambda: hardware_of(_softmax()),
    "guards-at-the-root": lambda: hardware_of(_compiled(NEURON, pes=4, model_guard=4)),
    "sequencers": lambda: hardware_of(_compiled(LAYER, pes=4, sequencers=2, pes_per_pu=2)),
    "overlay": lambda: hardware_of(_overlay()),
    "axi-32": lambda: _wrapper(linear(2).image, 32),
    "axi-128": lambda: _wrapper(linear(8, stream_words=4).image, 128),
    "axi-overlay": _overlay_wrapper,
    "board-ecp5": lambda: _board(linear(2).image, "ulx3s-85f", 62.5),
    "board-gowin": lambda: _board(linear(2).image, "tang-nano-9k", 27),
    "board-overlay": lambda: _board(_overlay(), "icebreaker", 12),
}
"""What builds each design, by its name."""


def verilog_of(component: wiring.Component, name: str = "design") -> str:
    """Return the Verilog of a component and of all that it places by name."""
    platform, waiting, found = Emission(name), {name: component}, dict[str, str]()
    while waiting:
        module, made = waiting.popitem()
        netlist, sheets = _rtlil(made, module, platform, False)
        found[module] = _verilog(Netlist({inner.name: inner for inner in modules_of(netlist)}, sheets))
        waiting |= {n: c for n, c in platform.modules.items() if n not in found}
    return "\n".join(found[module] for module in sorted(found))


def main(folder: Path) -> None:
    """Write the Verilog of all designs into a folder."""
    folder.mkdir(parents=True)
    for design, build in DESIGNS.items():
        (folder / f"{design}.v").write_text(verilog_of(build()), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

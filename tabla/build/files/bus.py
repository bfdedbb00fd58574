"""The entry of the manifest on the wrapper for a host's bus."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from tabla.build.files.registers import register_entries
from tabla.hw.bus.axi import axi_members
from tabla.program.bus import BUS_WIDTHS, BusShape
from tabla.program.image import Image
from tabla.program.protocol import fingerprint
from tabla.schedule.placing.schedule import Schedule
from tabla.schedule.strands.streams import dump_words
from tabla.templates.bus import registers

MEGAHERTZ = 100
"""The clock rate for which the manifest names samples a second."""


def bus_entry(schedule: Schedule, image: Image, module: str, shape: BusShape) -> dict[str, Any]:
    """Return the entry ``bus`` of the manifest.

    `bytes` are those of a unit of each kind; a unit of samples or of results is that of a step. `largest_unit` is in
    containers. `cycles_per_sample` says, by the width of the bus, how many cycles a sample takes if the bus has a beat
    in each cycle, and `samples_per_second` what that is at `clock_megahertz`; it grows with the clock rate. `cycles` is
    the figure of the chosen width, and `free_width` the least width that does not limit the array, or null.
    """
    mark = fingerprint(image)
    cycles = cycles_by_width(schedule, shape)
    sizes = {
        "load": shape.load_beats * shape.stream_words,
        "sample": shape.run_beats * shape.stream_words,
        "result": shape.run_words,
        "dump": schedule.dump_count * dump_words(schedule.template, schedule.mapped.model_guard),
    }
    return {
        "kind": "axi",
        "module": f"{module}_axi",
        "width": shape.bus_bits,
        "cycles": schedule.per_sample(math.ceil(sustained_cycles(schedule, shape))),
        "free_width": free_width(schedule, shape),
        "container": shape.container,
        "fingerprint": mark,
        "bytes": {kind: containers * shape.container // 8 for kind, containers in sizes.items()},
        "buffer_bits": shape.buffer_beats * shape.stream_words * shape.width,
        "largest_unit": shape.largest_beats * shape.stream_words,
        "cycles_per_sample": {str(bits): each for bits, each in cycles.items()},
        "clock_megahertz": MEGAHERTZ,
        "samples_per_second": {str(bits): int(MEGAHERTZ * 1e6 / each) for bits, each in cycles.items()},
        "ports": wrapper_ports(shape),
        "registers": register_entries({"FINGERPRINT": mark}, registers(shape.predicts)),
    }


def cycles_by_width(schedule: Schedule, shape: BusShape) -> dict[int, float]:
    """Return the cycles of a sample in the steady state, for each width of the bus."""
    widths = {bits: replace(shape, bus_bits=bits) for bits in BUS_WIDTHS}
    return {bits: sustained_cycles(schedule, each) / schedule.graph.samples for bits, each in widths.items()}


def free_width(schedule: Schedule, shape: BusShape) -> int | None:
    """Return the least width of the bus that does not limit the array, or None if all do."""
    array = schedule.cycles / schedule.graph.samples
    return next((bits for bits, cycles in cycles_by_width(schedule, shape).items() if cycles <= array), None)


def bus_line(schedule: Schedule, shape: BusShape) -> str:
    """Return the line of ``tabla gen`` that says what the chosen bus reaches."""
    cycles = schedule.per_sample(math.ceil(sustained_cycles(schedule, shape)))
    line = f"bus          {cycles} cycles per sample over AXI of {shape.bus_bits} bits"
    width = free_width(schedule, shape)
    if width is None:
        return f"{line}; a bus of {BUS_WIDTHS[-1]} bits limits the array, too"
    return line if width <= shape.bus_bits else f"{line}; --bus-width {width} does not limit the array"


def wrapper_ports(shape: BusShape) -> list[dict[str, Any]]:
    """Return the ports of the wrapper: the name, the direction and the bits of each."""
    return [
        {"name": name, "direction": member.flow.name.lower(), "bits": member.shape}
        for name, member in axi_members(shape).items()
    ]


def sustained_cycles(schedule: Schedule, shape: BusShape) -> float:
    """Return the cycles of a step in the steady state: those of the array, or those in which words cross the bus."""
    words = max(shape.run_beats * shape.stream_words, shape.run_words)
    return max(schedule.cycles, words / shape.containers)

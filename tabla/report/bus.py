"""The entry of the manifest on the wrapper for a host's bus."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tabla.hw.bus.axi import axi_members
from tabla.program.bus import BUS_WIDTHS, BusShape
from tabla.program.image import Image
from tabla.program.protocol import fingerprint
from tabla.report.registers import register_entries
from tabla.schedule.schedule import Schedule
from tabla.strands.streams import dump_words

MEGAHERTZ = 100
"""The clock rate for which the manifest names samples a second."""


def bus_entry(schedule: Schedule, image: Image, module: str, shape: BusShape) -> dict[str, Any]:
    """Return the entry ``bus`` of the manifest.

    `bytes` are those of a unit of each kind; a unit of samples or of results is that of a step. `largest_unit` is in
    containers. `cycles_per_sample` says, by the width of the bus, how many cycles a sample takes if the bus has a beat
    in each cycle, and `samples_per_second` what that is at `clock_megahertz`; it grows with the clock rate.
    """
    mark = fingerprint(image)
    samples = schedule.graph.samples
    cycles = {bits: sustained_cycles(schedule, replace(shape, bus_bits=bits)) / samples for bits in BUS_WIDTHS}
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
        "container": shape.container,
        "fingerprint": mark,
        "bytes": {kind: containers * shape.container // 8 for kind, containers in sizes.items()},
        "buffer_bits": shape.buffer_beats * shape.stream_words * shape.width,
        "largest_unit": shape.largest_beats * shape.stream_words,
        "cycles_per_sample": {str(bits): each for bits, each in cycles.items()},
        "clock_megahertz": MEGAHERTZ,
        "samples_per_second": {str(bits): int(MEGAHERTZ * 1e6 / each) for bits, each in cycles.items()},
        "ports": wrapper_ports(shape),
        "registers": register_entries({"FINGERPRINT": mark}),
    }


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

"""The folder of an overlay: its Verilog, and the manifest that says what it can hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from tabla._version import VERSION
from tabla.build.files.bus import wrapper_ports
from tabla.build.files.ipxact import component
from tabla.build.files.manifest import LICENCE, STATE_PORTS
from tabla.build.files.registers import register_entries, register_header, register_page, register_systemrdl
from tabla.build.files.vivado import vivado_script
from tabla.hw.bus.text import overlay_wrapper_verilog
from tabla.hw.emit import verilog
from tabla.hw.reset import reset_cycles
from tabla.program.bus import BusShape
from tabla.program.overlay import (
    CONTAINER,
    HOST_NUMBERS,
    Overlay,
    OverlayBus,
    number_port,
    timing_layout,
    timing_widths,
)
from tabla.program.overlay_file import NAME, overlay_record
from tabla.program.overlay_image import read_image
from tabla.program.overlay_registers import PROGRAM, overlay_registers
from tabla.program.overlay_words import Status, about_overlay
from tabla.templates.overlays import FEATURES


def overlay_files(overlay: Overlay) -> dict[str, str]:
    """Return the content of every file of ``tabla overlay``, by its path in the folder."""
    shape = None if overlay.bus is None else BusShape.of_overlay(overlay, overlay.bus)
    files = {f"{NAME}.v": verilog(overlay, NAME, stoppable=shape is not None)}
    if shape is not None:
        table = overlay_registers(overlay)
        files[f"{NAME}_axi.v"] = overlay_wrapper_verilog(overlay, shape, NAME)
        files |= {
            f"{NAME}_registers.h": register_header(NAME, {}, table),
            f"{NAME}_registers.md": register_page(NAME, {}, table),
            f"{NAME}_registers.rdl": register_systemrdl(NAME, {}, table),
            f"{NAME}_vivado.tcl": vivado_script(NAME, NAME),
            "component.xml": component(NAME, shape, wrapper_ports(shape), tuple(files), {}, table),
        }
    sums = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items() if name.endswith(".v")}
    content = overlay_manifest(overlay) | {"sha256": sums}
    return {**files, f"{NAME}.json": json.dumps(content, indent=2) + "\n"}


def overlay_manifest(overlay: Overlay) -> dict[str, Any]:
    """Return the manifest of an overlay: what it has room for, its ports, and what an image consists of."""
    widths = timing_widths(overlay)
    return {
        **overlay_record(overlay),
        **({} if overlay.bus is None else {"bus": _bus_entry(overlay, overlay.bus)}),
        "tool": f"tabla {VERSION}",
        "module": NAME,
        "verilog_licence": LICENCE,
        "reset_cycles": reset_cycles(overlay),
        "ports": [
            {"name": name, "direction": direction, "bits": bits, "meaning": text}
            for name, direction, bits, text in _ports(overlay)
        ],
        "about": [
            {"index": index, "name": name, "value": value}
            for index, (name, value) in enumerate(about_overlay(overlay).items())
        ],
        "status": {status.name.lower(): status.value for status in Status},
        "memories": [
            {"number": number, "unit": unit, "kind": kind, "bits": overlay.width(unit, kind)}
            for number, (unit, kind) in enumerate(overlay.memories)
        ],
        "timing": [
            {"name": name, "bit": place.offset, "bits": place.width, "signed": widths[name][1]}
            for name, place in timing_layout(overlay).fields.items()
        ],
    }


def _bus_entry(overlay: Overlay, bus: OverlayBus) -> dict[str, Any]:
    """Return the entry ``bus`` of the manifest. What depends on the program comes with an image."""
    shape = BusShape.of_overlay(overlay, bus)
    return {
        "kind": "axi",
        "module": f"{NAME}_axi",
        "width": bus.bits,
        "container": shape.container,
        "step_words": bus.step_words,
        "buffer_bits": shape.buffer_beats * shape.stream_words * shape.width,
        "command": PROGRAM,
        "ports": wrapper_ports(shape),
        "registers": register_entries({}, overlay_registers(overlay)),
    }


def _ports(overlay: Overlay) -> list[tuple[str, str, int, str]]:
    parameters = overlay.parameters
    return [
        ("clk", "in", 1, "clock"),
        ("rst", "in", 1, f"synchronous reset; hold it for {reset_cycles(overlay)} cycles; it keeps the image"),
        ("command_valid", "in", 1, "a command is offered"),
        ("command_ready", "out", 1, "a command is taken; never before there is an image"),
        ("command_code", "in", 2, "0 load, 1 run, 2 dump"),
        ("command_count", "in", 32, "samples to run, addresses to dump"),
        ("in_valid", "in", 1, "a beat is offered"),
        ("in_ready", "out", 1, "a beat is taken"),
        ("in_data", "in", parameters.stream_words * parameters.width, "word l of a beat from bit l * width up"),
        ("out_valid", "out", 1, "a word is offered"),
        ("out_ready", "in", 1, "a word is taken"),
        ("out_data", "out", parameters.width, "a result or a dumped word"),
        *STATE_PORTS,
        ("program_start", "in", 1, "an image begins"),
        ("program_valid", "in", 1, "a word of an image is offered"),
        ("program_ready", "out", 1, "a word of an image is taken"),
        ("program_data", "in", CONTAINER, "the word"),
        ("program_status", "out", 3, "what became of the last image: see status"),
        ("about_index", "in", 5, "which number of the overlay is asked for: see about"),
        ("about_word", "out", CONTAINER, "the number, a cycle later"),
        *(_wrapper_ports(overlay) if overlay.bus is not None else ()),
    ]


def _wrapper_ports(overlay: Overlay) -> Iterator[tuple[str, str, int, str]]:
    """Yield the ports that an overlay has only for its wrapper."""
    widths = timing_widths(overlay)
    yield "stop", "in", 1, "strikes the samples of a run that have not begun"
    yield "programmed", "out", 1, "there is a program"
    for name in HOST_NUMBERS:
        yield number_port(name), "out", widths[name][0], f"the number {name} of the program: see timing"


def image_line(content: bytes) -> str:
    """Return the line on an image that ``tabla load`` and ``tabla gen`` print."""
    words = len(read_image(content, "image").words)
    return f"image        {words:,} words of 32 bits, {len(content):,} bytes with its layout"


def overlay_text(overlay: Overlay) -> str:
    """Return what ``tabla overlay`` prints."""
    p, room, array = overlay.parameters, overlay.room, overlay.template
    format = f"q{array.integer_bits}.{array.fraction_bits}"
    places = sorted(room.shifts)
    gapless = len(places) > 2 and places[-1] - places[0] == len(places) - 1
    reached = f"{places[0]} to {places[-1]}" if gapless else ", ".join(map(str, places))
    memories = f"{p.model_depth:,} words of model, {p.data_depth:,} of data, {p.interim_depth:,} interim"
    root = f"{p.root_data_depth:,} words of data, {p.root_memory_depth:,} of memory, {p.output_depth:,} of output"
    loops = f"{room.levels} loops of up to {1 << room.counts:,}, {room.body} operations in a loop"
    lines = [
        f"overlay: {p.pes} PEs, {p.pes_per_pu} per PU, {format}, words per beat: {p.stream_words}",
        f"a PE         {memories}",
        f"the root     {root}",
        f"a unit       {room.strands:,} strands, {room.operations:,} operations; {loops}",
        f"sums         {room.terms:,} terms; places in bits beyond the fraction: {reached}",
        f"functions    {', '.join(f.name for f in p.functions) or 'none'}",
        f"features     {', '.join(name for name in FEATURES if name in room.features) or 'none'}",
        f"fingerprint  {overlay.fingerprint:08x}",
    ]
    if overlay.bus is not None:
        steps = f"steps of up to {overlay.bus.step_words:,} words"
        lines.insert(-1, f"bus          AXI4-Stream of {overlay.bus.bits} bits, control over AXI4-Lite; {steps}")
    return "\n".join(lines)

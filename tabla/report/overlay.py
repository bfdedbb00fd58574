"""The folder of an overlay: its Verilog, and the manifest that says what it can hold."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tabla._version import VERSION
from tabla.hw.emit import verilog
from tabla.hw.reset import reset_cycles
from tabla.program.overlay import CONTAINER, Overlay, timing_layout, timing_widths
from tabla.program.overlay_file import NAME, overlay_record
from tabla.program.overlay_words import Status, about_overlay
from tabla.report.manifest import LICENCE, STATE_PORTS


def overlay_files(overlay: Overlay) -> dict[str, str]:
    """Return the content of every file of ``tabla overlay``, by its path in the folder."""
    text = verilog(overlay, NAME)
    content = overlay_manifest(overlay) | {"sha256": {f"{NAME}.v": hashlib.sha256(text.encode()).hexdigest()}}
    return {f"{NAME}.v": text, f"{NAME}.json": json.dumps(content, indent=2) + "\n"}


def overlay_manifest(overlay: Overlay) -> dict[str, Any]:
    """Return the manifest of an overlay: what it has room for, its ports, and what an image consists of."""
    widths = timing_widths(overlay)
    return {
        **overlay_record(overlay),
        "tool": f"tabla {VERSION}",
        "module": NAME,
        "verilog_licence": LICENCE,
        "reset_cycles": reset_cycles(overlay),
        "ports": [
            {"name": name, "direction": direction, "bits": bits, "description": text}
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
    ]


def overlay_text(overlay: Overlay) -> str:
    """Return what ``tabla overlay`` prints."""
    p, room, array = overlay.parameters, overlay.room, overlay.template
    format = f"q{array.integer_bits}.{array.fraction_bits}"
    rates = ", ".join(f"2^-{shift}" if shift else "1" for shift in sorted(room.shifts) if shift >= 0)
    memories = f"{p.model_depth:,} words of model, {p.data_depth:,} of data, {p.interim_depth:,} interim"
    root = f"{p.root_data_depth:,} words of data, {p.root_memory_depth:,} of memory, {p.output_depth:,} of output"
    loops = f"{room.levels} loops of up to {1 << room.counts:,}, {room.body} operations in a loop"
    lines = [
        f"overlay: {p.pes} PEs, {p.pes_per_pu} per PU, {format}, words per beat: {p.stream_words}",
        f"a PE         {memories}",
        f"the root     {root}",
        f"a unit       {room.strands:,} strands, {room.operations:,} operations; {loops}",
        f"sums         {room.terms:,} terms; powers of two of learning rates: {rates}",
        f"functions    {', '.join(f.name for f in p.functions) or 'none'}",
        f"fingerprint  {overlay.fingerprint:08x}",
    ]
    return "\n".join(lines)
